import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { aPerson, audit } from '../../test/people-fixtures.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS, prepare } from '../../test/store-fixtures.ts';
import { nextTurn } from '../../test/until.ts';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { NewAlert } from '../store/alerts.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { KeyRow, Store } from '../store/store.ts';
import { Alerts } from './alerts.ts';
import type { HostState } from './operation-checks.ts';
import { AlertWatch, type WatchSettings } from './watch.ts';

const GIGABYTE = 1024 ** 3;
const SETTINGS: WatchSettings = {
  balanceBelowNanousd: 500n,
  capPercent: 80,
  lossesPerHourNanousd: 1_000n,
  diskFreeBytes: GIGABYTE,
};

let folder: string;
let clock: ManualClock;
let store: Store;
let raised: NewAlert[];
let errors: unknown[];
let hosts: HostState[];
let freeBytes: number | null;
let calls: IdSource;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-alerts-'));
  clock = new ManualClock(NOON_MS);
  await copyEmptyLedger(folder);
  store = await openSqliteStore({ folder, clock, threads: false });
  await prepare(store);
  [raised, errors, hosts, freeBytes] = [[], [], [], 5 * GIGABYTE];
  calls = new IdSource(clock, 2);
});
afterEach(async () => {
  expect(errors).toEqual([]);
  await store.close();
  rmSync(folder, { recursive: true });
});

/** One process that looks for alerts. */
function watcher(settings: Partial<WatchSettings> = {}, machine = 'one'): AlertWatch {
  const ids = new IdSource(clock, raised.length + 3);
  const alerts = new Alerts({ store: store.directory, clock, ids, onRaised: (alert) => raised.push(alert) });
  return new AlertWatch({
    store,
    alerts,
    clock,
    settings: { ...SETTINGS, ...settings },
    machine,
    diskFreeBytes: async () => freeBytes,
    hosts: () => hosts,
    onError: (error) => errors.push(error),
  });
}

const PAYER = { accountId: 1n, key: null };

/** A call of account 1, which the watch is told of. */
async function call(
  watch: AlertWatch,
  costNanousd: bigint,
  key: KeyRow | null = null,
  lossNanousd = 0n,
): Promise<void> {
  const id = calls.next();
  const loss = lossNanousd === 0n ? {} : { lossNanousd, lossReason: 'a reason' };
  const hold = aHold(id, costNanousd, { keyId: key?.id ?? null, personId: key?.personId ?? null });
  await store.apply([hold, aSettle(id, costNanousd, loss)]);
  watch.note({ accountId: 1n, key }, costNanousd, lossNanousd, null);
}

let credits = 0n;
async function credit(amount: bigint): Promise<void> {
  await store.apply([{ ...aCredit(1n, amount), id: calls.next(), reference: `r${++credits}` }]);
}

const messages = (): string[] => raised.map(({ message }) => message);
const open = async (): Promise<string[]> =>
  (await store.directory.openAlerts({ after: null, limit: 100 })).map(({ condition }) => condition);

describe('the balance of an account', () => {
  test('is reported once when it falls below the limit, and again only after it was above', async () => {
    const watch = watcher();
    await credit(1_000n);
    await call(watch, 500n);
    await watch.look();
    expect(raised).toEqual([]);
    await call(watch, 1n);
    await watch.look();
    await call(watch, 1n);
    await watch.look();
    expect(raised).toMatchObject([{ kind: 'balance', accountId: 1n, subject: expect.stringMatching(/^acct_/) }]);
    expect(JSON.parse(raised[0]!.dataJson)).toMatchObject({
      kind: 'balance',
      balance_nanousd: 499,
      below_nanousd: 500,
    });
    await credit(100n);
    await watch.look();
    expect(await open()).toEqual([]);
    await call(watch, 200n);
    await watch.look();
    expect(raised).toHaveLength(2);
  });

  test('is reported once by three processes that all see it', async () => {
    const watches = [watcher(), watcher({}, 'two'), watcher({}, 'three')];
    await credit(100n);
    for (const watch of watches) await call(watch, 1n);
    await Promise.all(watches.map((watch) => watch.look()));
    expect(raised).toHaveLength(1);
  });

  test('is found by the sweep if no call says so', async () => {
    const watch = watcher();
    await credit(100n);
    await store.createAccount(anAccount(2n, { kind: 'unlimited' }));
    await store.createAccount(anAccount(3n));
    await watch.look();
    expect(raised).toMatchObject([{ kind: 'balance', accountId: 1n }]);
  });

  test('follows what the account wants before what the gateway is set to', async () => {
    const watch = watcher();
    const settings = (balanceBelowNanousd: bigint | null) =>
      store.directory.putAlertSettings(1n, { balanceBelowNanousd, capPercent: null }, audit('alerts.change'));
    await credit(1_000n);
    await settings(0n);
    await call(watch, 900n);
    await watch.look();
    expect(raised).toEqual([]);
    await settings(50n);
    await call(watch, 60n);
    await watch.look();
    expect(messages()).toEqual([expect.stringContaining('below $0.00000005.')]);
    await settings(0n);
    await watch.look();
    expect(await open()).toEqual([]);
  });
});

describe('the cap of a key', () => {
  async function capped(over: Parameters<typeof aKey>[2] = {}): Promise<KeyRow> {
    await credit(1_000_000n);
    await store.createKey(aKey(7n, 1n, { capNanousd: 1_000n, capWindow: 'day', ...over }));
    return (await store.findKey(7n))!;
  }

  test('is reported at 80 percent, and when it is used up', async () => {
    const watch = watcher();
    const key = await capped();
    await call(watch, 799n, key);
    await watch.look();
    expect(raised).toEqual([]);
    await call(watch, 1n, key);
    await watch.look();
    await call(watch, 1n, key);
    await watch.look();
    expect(messages()).toEqual([
      expect.stringContaining('has spent $0.0000008 of the cap of $0.000001, more than 80 %.'),
    ]);
    await call(watch, 199n, key);
    await watch.look();
    expect(messages()[1]).toContain('calls are refused');
    expect(raised.map(({ kind, dataJson }) => [kind, JSON.parse(dataJson).percent])).toEqual([
      ['key_cap', 80],
      ['key_cap', 100],
    ]);
  });

  test('counts as used up if a call was refused after most of it was spent, and not before', async () => {
    const watch = watcher();
    const key = await capped();
    watch.note({ accountId: 1n, key }, 0n, 0n, 'key');
    await watch.look();
    expect(raised).toEqual([]);
    await call(watch, 950n, key);
    watch.note({ accountId: 1n, key }, 0n, 0n, 'key');
    await watch.look();
    await watch.look();
    expect(raised.map(({ dataJson }) => JSON.parse(dataJson).percent)).toEqual([80, 100]);
    expect(await open()).toHaveLength(2);
  });

  test('is resolved by a new window or a higher cap, and reported again in the next one', async () => {
    const watch = watcher();
    const key = await capped();
    await call(watch, 900n, key);
    await watch.look();
    await store.updateKey(7n, { capNanousd: 2_000n });
    await watch.look();
    expect(await open()).toEqual([]);
    await store.updateKey(7n, { capNanousd: 1_000n });
    clock.advance(24 * 3_600_000);
    await call(watch, 900n, (await store.findKey(7n))!);
    await watch.look();
    expect(raised).toHaveLength(2);
  });

  test('of its person is reported for the person', async () => {
    await store.directory.createPerson(aPerson(3n), audit('person.create'));
    const membership = {
      accountId: 1n,
      personId: 3n,
      role: 'member',
      capNanousd: 100n,
      capWindow: 'lifetime',
    } as const;
    await store.directory.putMembership(membership, audit('member.put'));
    const key = await capped({ personId: 3n, capNanousd: null });
    const watch = watcher();
    await call(watch, 85n, key);
    await watch.look();
    expect(raised).toMatchObject([{ kind: 'person_cap', subject: expect.stringMatching(/^person_/) }]);
    expect(messages()[0]).toContain('Person3@Example.com has spent');
    await store.directory.putMembership({ ...membership, capNanousd: null }, audit('member.put'));
    await watch.look();
    expect(await open()).toEqual([]);
  });

  test.each([
    { refused: ['key_cap'], caps: ['key'], keyCap: 90n, personCap: 100n },
    { refused: ['person_cap'], caps: ['person'], keyCap: 100n, personCap: 90n },
    // The call fitted into neither, and the key's cap is checked first.
    { refused: ['key_cap'], caps: ['key'], keyCap: 100n, personCap: 90n },
    { refused: ['key_cap', 'person_cap'], caps: ['person', 'key', 'person'], keyCap: 100n, personCap: 90n },
  ] as const)(
    'is used up only if a call was refused for it, not for the other one: $refused, $keyCap, $personCap',
    async (each) => {
      await store.directory.createPerson(aPerson(3n), audit('person.create'));
      const membership = { accountId: 1n, personId: 3n, role: 'member', capWindow: 'lifetime' } as const;
      await store.directory.putMembership({ ...membership, capNanousd: each.personCap }, audit('member.put'));
      const key = await capped({ personId: 3n, capNanousd: each.keyCap });
      const watch = watcher();
      await call(watch, 85n, key);
      for (const cap of each.caps) watch.note({ accountId: 1n, key }, 0n, 0n, cap);
      await watch.look();
      const usedUp = raised.filter(({ message }) => message.endsWith('calls are refused.'));
      expect(usedUp.map(({ kind }) => kind)).toEqual(each.refused);
      expect(raised).toHaveLength(2 + each.refused.length);
    },
  );

  test('is not reported if the setting is off', async () => {
    const watch = watcher({ capPercent: null });
    await call(watch, 999n, await capped());
    await watch.look();
    expect(raised).toEqual([]);
  });
});

describe('what runs the gateway', () => {
  test('a host that is set aside is reported once, however often it comes and goes within an hour', async () => {
    const watch = watcher();
    for (let times = 0; times < 3; times++) {
      hosts = [{ host: 'alpha', state: 'ejected', isRefusing: false }];
      await watch.look();
      hosts = [{ host: 'alpha', state: 'well', isRefusing: false }];
      await watch.look();
      expect(await open()).toEqual([]);
    }
    expect(messages()).toEqual(['The host "alpha" fails, so it is not called for now.']);
    clock.advance(LIMITS.alertQuietMs);
    hosts = [{ host: 'alpha', state: 'key_refused', isRefusing: false }];
    await watch.look();
    expect(messages()[1]).toBe('The host "alpha" refuses our key, so it is not called for now.');
  });

  test('a host that another process calls well stays reported, until that process is long gone', async () => {
    hosts = [{ host: 'alpha', state: 'ejected', isRefusing: false }];
    await watcher().look();
    hosts = [{ host: 'alpha', state: 'well', isRefusing: false }];
    const other = watcher({}, 'two');
    await other.look();
    expect(await open()).toEqual(['host:alpha']);
    clock.advance(LIMITS.alertOrphanMs);
    await other.look();
    expect(await open()).toEqual([]);
  });

  test('a disk with little space is reported, and resolved when there is space again', async () => {
    const watch = watcher();
    freeBytes = GIGABYTE - 1;
    await watch.look();
    expect(messages()).toEqual([expect.stringContaining('has 1023 MB left; below 256 MB calls are refused.')]);
    freeBytes = GIGABYTE;
    await watch.look();
    expect(await open()).toEqual([]);
  });

  test('nothing is reported, and nothing fails, where there is no data folder', async () => {
    freeBytes = null;
    await watcher().look();
    expect([raised, errors]).toEqual([[], []]);
  });

  test('a disk is no longer reported after the alert was turned off', async () => {
    freeBytes = GIGABYTE - 1;
    await watcher().look();
    expect(await open()).toEqual(['disk:one']);
    clock.advance(LIMITS.alertOrphanMs);
    await watcher({ diskFreeBytes: null }).look();
    expect(await open()).toEqual([]);
  });

  test('losses of an hour are added up from the calls, and reported once an hour', async () => {
    const watch = watcher({ balanceBelowNanousd: null });
    await credit(1_000_000n);
    await call(watch, 1n, null, 1_000n);
    await watch.look();
    expect(raised).toEqual([]);
    await call(watch, 1n, null, 1n);
    clock.advance(LIMITS.alertLossesMs);
    await watch.look();
    expect(raised).toMatchObject([{ kind: 'losses', accountId: null }]);
    expect(JSON.parse(raised[0]!.dataJson)).toMatchObject({ loss_nanousd: 1001, above_nanousd: 1000 });
    await call(watch, 1n, null, 5n);
    clock.advance(LIMITS.alertLossesMs);
    await watch.look();
    expect(raised).toHaveLength(1);
    clock.advance(3_600_000);
    await watch.look();
    expect(await open()).toEqual([]);
    await call(watch, 1n, null, 1_001n);
    await watch.look();
    expect(raised).toHaveLength(2);
  });

  test('losses of the last minutes of an hour are reported for that hour, once over all processes', async () => {
    const watches = [watcher({ balanceBelowNanousd: null }), watcher({ balanceBelowNanousd: null })];
    await credit(1_000_000n);
    for (const watch of watches) await watch.look();
    clock.advance(3_600_000 - 10_000);
    for (const watch of watches) await call(watch, 1n, null, 501n);
    clock.advance(20_000);
    for (const watch of watches) await call(watch, 1n, null, 500n);
    for (let round = 0; round < 2; round++) for (const watch of watches) await watch.look();
    expect(raised).toMatchObject([{ kind: 'losses', subject: new Date(NOON_MS).toISOString().slice(0, 13) }]);
    expect(JSON.parse(raised[0]!.dataJson)).toMatchObject({ loss_nanousd: 1002 });
  });

  test('losses are looked at again after the store was unreachable', async () => {
    const watch = watcher({ balanceBelowNanousd: null });
    await credit(1_000_000n);
    await call(watch, 1n, null, 1_001n);
    vi.spyOn(store.directory, 'lossesBetween').mockRejectedValueOnce(new Error('away'));
    await watch.look();
    expect(errors.splice(0)).toHaveLength(1);
    clock.advance(LIMITS.alertLossesMs);
    await watch.look();
    expect(raised).toMatchObject([{ kind: 'losses' }]);
  });
});

test('an account that could not be read is looked at soon, although no further call is noted', async () => {
  const watch = watcher();
  for (let round = 0; round < 3; round++) await watch.look();
  await credit(1_000n);
  await call(watch, 900n);
  vi.spyOn(store, 'findAccount').mockRejectedValueOnce(new Error('away'));
  await watch.look();
  expect(errors.splice(0)).toHaveLength(1);
  await watch.look();
  expect(raised).toMatchObject([{ kind: 'balance' }]);
});

test('looks again and again, and goes on if the store was unreachable', async () => {
  const watch = watcher();
  watch.start();
  await credit(1_000n);
  const { spendingOf } = store;
  await call(watch, 900n);
  const { findAccount } = store;
  store.findAccount = () => Promise.reject(new Error('away'));
  clock.advance(LIMITS.alertRoundMs);
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(errors.splice(0)).toHaveLength(1);
  store.findAccount = findAccount.bind(store);
  expect(spendingOf).toBe(store.spendingOf);
  watch.note(PAYER, 1n, 0n, null);
  clock.advance(LIMITS.alertRoundMs);
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(raised.length).toBeGreaterThan(0);
  await watch.stop();
  const count = clock.pendingTimers;
  clock.advance(LIMITS.alertRoundMs);
  expect(clock.pendingTimers).toBe(count);
});
