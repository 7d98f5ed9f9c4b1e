import { expect, onTestFinished, test } from 'vitest';
import { deleteSlice } from '../src/store/postgres/closing.ts';
import { ClosingSlices } from '../src/store/postgres/closing-slices.ts';
import { Connections } from '../src/store/postgres/connections.ts';
import { FIRST_MS, makeCalls, openAccounts, openSubject } from './month-subject.ts';
import { Random } from './random.ts';
import { until } from './until.ts';

const DAY_MS = 86_400_000;

/** As after a process has lost, with its connection, the lock that keeps others from closing and deleting. */
test('receipts are deleted once, although two processes delete the same ones at the same time', async () => {
  const subject = await openSubject('postgres');
  onTestFinished(() => subject.dispose());
  await openAccounts(subject);
  await makeCalls(subject, new Random(1), 40, 100);
  await subject.store.closeBooks(null);
  const connections = new Connections(subject.place, subject.clock, 1);
  onTestFinished(() => connections.close());
  const slice = (await new ClosingSlices(connections).nextExpired(FIRST_MS + 50 * DAY_MS, subject.clock.nowMs()))!;
  const [written, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = connections.transaction(async (sql) => {
    const isDeleted = await deleteSlice(sql, slice);
    written.resolve();
    await commit.promise;
    return isDeleted;
  });
  await written.promise;
  const second = connections.transaction((sql) => deleteSlice(sql, slice));
  const waiting =
    "SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await until(async () => (await subject.sql(waiting)).length === 1, 'the second waits for the first');
  commit.resolve();
  expect(await Promise.all([first, second])).toEqual([true, false]);
  expect((await subject.store.verify()).violations).toEqual([]);
});
