import { afterEach, beforeEach, expect, test } from 'vitest';
import { AlertsFixture } from '../../test/alerts-fixture.ts';
import { IdSource } from '../kit/ids.ts';
import { type Store, StoreUnavailable } from '../store/store.ts';
import { Alerts } from './alerts.ts';
import { AlertWatch } from './watch.ts';

const HOUR_MS = 3_600_000;
const SETTINGS = { balanceBelowNanousd: null, capPercent: null, lossesPerHourNanousd: null, diskFreeBytes: 1_000 };

/** What a process sees. */
interface Seen {
  state: string;
  freeBytes: number;
}

let on: AlertsFixture;
let raised: string[];

beforeEach(async () => {
  on = await AlertsFixture.open();
  raised = [];
});
afterEach(() => on.close());

function startProcess(machine: string, id: number, seen: Seen): AlertWatch {
  const { store, clock } = on;
  const onRaised = ({ condition }: { condition: string }) => raised.push(condition);
  return new AlertWatch({
    store,
    alerts: new Alerts({ store: store.directory, clock, ids: new IdSource(clock, id), onRaised }),
    clock,
    settings: SETTINGS,
    machine,
    diskFreeBytes: async () => seen.freeBytes,
    hosts: () => [{ host: 'alpha', state: seen.state, isRefusing: false }],
    onError: (error) => expect.fail(String(error)),
  });
}

async function lookFor(hours: number, processes: readonly AlertWatch[]): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    for (const watch of processes) await watch.look();
    on.clock.advance(HOUR_MS);
  }
}

test('what only one of two processes finds is reported once, however long it lasts', async () => {
  const faulty = startProcess('one', 3, { state: 'ejected', freeBytes: 999 });
  await lookFor(14, [faulty, startProcess('two', 4, { state: 'well', freeBytes: 1_000 })]);
  expect(raised).toEqual(['host:alpha', 'disk:one']);
});

test('a host that one process finds healthy before the other is not reported as failing again', async () => {
  const one = { state: 'ejected', freeBytes: 1_000 };
  const two = { ...one };
  const processes = [startProcess('one', 3, one), startProcess('two', 4, two)];
  const open = async () => (await on.store.directory.openConditions(['host:alpha'])).length;
  await lookFor(3, processes);
  one.state = 'well';
  await lookFor(1, processes);
  expect([raised, await open()]).toEqual([['host:alpha'], 1]);
  two.state = 'well';
  await lookFor(1, processes);
  expect([raised, await open()]).toEqual([['host:alpha'], 0]);
  two.state = 'ejected';
  await lookFor(1, processes);
  expect([raised, await open()]).toEqual([['host:alpha', 'host:alpha'], 1]);
});

test('a store that is unreachable is reported once in a look, not by each of its parts', async () => {
  const unreachable = async () => Promise.reject(new StoreUnavailable('no answer'));
  const rows = new Proxy({}, { get: () => unreachable }) as Store['directory'];
  const unreachableStore = new Proxy({}, { get: (_, name) => (name === 'directory' ? rows : unreachable) }) as Store;
  const errors: string[] = [];
  const { clock } = on;
  const watch = new AlertWatch({
    store: unreachableStore,
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
