import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { idFloorAt } from '../src/kit/ids.ts';
import { FIRST_MS, type MonthSubject, openAccounts, openSubject } from './month-subject.ts';
import { aHold, aSettle } from './store-fixtures.ts';

const HOUR_MS = 3_600_000;

describe.each(['sqlite', 'postgres'] as const)('losses by host on %s', (engine) => {
  let subject: MonthSubject;

  beforeEach(async () => {
    subject = await openSubject(engine);
    await openAccounts(subject);
  });
  afterEach(() => subject.dispose());

  /** A call that ended this many hours after the first one. */
  async function call(hours: number, host: string, lossNanousd: bigint, lossReason: string | null): Promise<void> {
    const createdMs = FIRST_MS + hours * HOUR_MS;
    const id = idFloorAt(createdMs);
    await subject.store.apply([aHold(id, 1_000n, { createdMs })]);
    await subject.store.apply([aSettle(id, 400n, { host, lossNanousd, lossReason })]);
  }

  const losses = (fromHours: number, toHours: number) =>
    subject.store.usage.hostLosses({
      sinceMs: FIRST_MS + fromHours * HOUR_MS,
      untilMs: FIRST_MS + toHours * HOUR_MS,
    });

  test('are the sums of the receipts of that time, the largest first', async () => {
    await call(1, 'east', 30n, 'host_may_bill_failed_attempt');
    await call(2, 'east', 12n, 'host_may_bill_failed_attempt');
    await call(3, 'west', 7_000n, 'host_reported_more_than_bound');
    await call(4, 'west', 0n, null);
    await call(9, 'east', 5n, 'host_may_bill_failed_attempt');
    const east = { host: 'east', reason: 'host_may_bill_failed_attempt' };
    expect(await losses(1, 9)).toEqual({
      isComplete: true,
      losses: [
        { host: 'west', reason: 'host_reported_more_than_bound', calls: 1, lossNanousd: 7_000n },
        { ...east, calls: 2, lossNanousd: 42n },
      ],
    });
    expect(await losses(9, 10)).toEqual({ isComplete: true, losses: [{ ...east, calls: 1, lossNanousd: 5n }] });
    expect(await losses(4, 5)).toEqual({ isComplete: true, losses: [] });
  });
});
