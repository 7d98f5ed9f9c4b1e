import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { NOON_MS, prepare } from '../../test/store-fixtures.ts';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { type Store, StoreUnavailable } from '../store/store.ts';
import { Alerts } from './alerts.ts';
import { AlertWatch } from './watch.ts';

const HOUR_MS = 3_600_000;
const SETTINGS = { balanceBelowNanousd: null, capPercent: null, lossesPerHourNanousd: null, diskFreeBytes: 1_000 };

test('what only one of two processes finds is reported once, however long it lasts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
  const clock = new ManualClock(NOON_MS);
  await copyEmptyLedger(folder);
  const store = await openSqliteStore({ folder, clock, threads: false });
  await prepare(store);
  const raised: string[] = [];
  const process = (machine: string, id: number, state: string, freeBytes: number): AlertWatch => {
    const onRaised = ({ condition }: { condition: string }) => raised.push(condition);
    return new AlertWatch({
      store,
      alerts: new Alerts({ store: store.directory, clock, ids: new IdSource(clock, id), onRaised }),
      clock,
      settings: SETTINGS,
      machine,
      diskFreeBytes: async () => freeBytes,
      hosts: () => [{ host: 'alpha', state, isRefusing: false }],
      onError: (error) => expect.fail(String(error)),
    });
  };
  const processes = [process('one', 3, 'ejected', 999), process('two', 4, 'well', 1_000)];
  for (let hour = 0; hour < 14; hour++) {
    for (const watch of processes) await watch.look();
    clock.advance(HOUR_MS);
  }
  expect(raised).toEqual(['host:alpha', 'disk:one']);
  await store.close();
  rmSync(folder, { recursive: true });
});

test('a store that is unreachable is reported once in a look, not by each of its parts', async () => {
  const clock = new ManualClock(NOON_MS);
  const unreachable = async () => Promise.reject(new StoreUnavailable('no answer'));
  const rows = new Proxy({}, { get: () => unreachable }) as Store['directory'];
  const store = new Proxy({}, { get: (_, name) => (name === 'directory' ? rows : unreachable) }) as Store;
  const errors: string[] = [];
  const watch = new AlertWatch({
    store,
    alerts: new Alerts({ store: rows, clock, ids: new IdSource(clock, 1), onRaised: () => undefined }),
    clock,
    settings: SETTINGS,
    machine: 'one',
    diskFreeBytes: async () => 999,
    hosts: () => [],
    onError: (error) => errors.push(String(error)),
  });
  await watch.look();
  expect(errors).toEqual(['StoreUnavailable: no answer']);
  await watch.look();
  expect(errors).toHaveLength(2);
});
