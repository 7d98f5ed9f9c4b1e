import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AlertsFixture, GIGABYTE } from '../../test/alerts-fixture.ts';
import { aPerson, audit } from '../../test/people-fixtures.ts';
import { aKey, anAccount } from '../../test/store-fixtures.ts';
import { nextTurn } from '../../test/until.ts';
import { LIMITS } from '../limits.ts';
import type { KeyRow } from '../store/store.ts';

let on: AlertsFixture;
beforeEach(async () => {
  on = await AlertsFixture.open();
});
afterEach(() => on.close());

const PAYER = { accountId: 1n, key: null };

describe('the balance of an account', () => {
  test('is reported once when it falls below the limit, and again only after it was above', async () => {
    const watch = on.watcher();
    await on.credit(1_000n);
    await on.call(watch, 500n);
    await watch.look();
    expect(on.raised).toEqual([]);
    await on.call(watch, 1n);
    await watch.look();
    await on.call(watch, 1n);
    await watch.look();
    expect(on.raised).toMatchObject([{ kind: 'balance', accountId: 1n, subject: expect.stringMatching(/^acct_/) }]);
    expect(JSON.parse(on.raised[0]!.dataJson)).toMatchObject({
      kind: 'balance',
      balance_nanousd: 499,
      below_nanousd: 500,
    });
    await on.credit(100n);
    await watch.look();
    expect(await on.openConditions()).toEqual([]);
    await on.call(watch, 200n);
    await watch.look();
    expect(on.raised).toHaveLength(2);
  });

  test('is reported once by three processes that all see it', async () => {
    const watches = [on.watcher(), on.watcher({}, 'two'), on.watcher({}, 'three')];
    await on.credit(100n);
    for (const watch of watches) await on.call(watch, 1n);
    await Promise.all(watches.map((watch) => watch.look()));
    expect(on.raised).toHaveLength(1);
  });

  test('is found by the sweep if no call says so', async () => {
    const watch = on.watcher();
    await on.credit(100n);
    await on.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
    await on.store.createAccount(anAccount(3n));
    await watch.look();
    expect(on.raised).toMatchObject([{ kind: 'balance', accountId: 1n }]);
  });

  test('follows what the account wants before what the gateway is set to', async () => {
    const watch = on.watcher();
    const settings = (balanceBelowNanousd: bigint | null) =>
      on.store.directory.putAlertSettings(1n, { balanceBelowNanousd, capPercent: null }, audit('alerts.change'));
    await on.credit(1_000n);
    await settings(0n);
    await on.call(watch, 900n);
    await watch.look();
    expect(on.raised).toEqual([]);
    await settings(50n);
    await on.call(watch, 60n);
    await watch.look();
    expect(on.messages()).toEqual([expect.stringContaining('below $0.00000005.')]);
    await settings(0n);
    await watch.look();
    expect(await on.openConditions()).toEqual([]);
  });
});

describe('the cap of a key', () => {
  async function capped(over: Parameters<typeof aKey>[2] = {}): Promise<KeyRow> {
    await on.credit(1_000_000n);
    await on.store.createKey(aKey(7n, 1n, { capNanousd: 1_000n, capWindow: 'day', ...over }));
    return (await on.store.findKey(7n))!;
  }

  test('is reported at 80 percent, and when it is used up', async () => {
    const watch = on.watcher();
    const key = await capped();
    await on.call(watch, 799n, key);
    await watch.look();
    expect(on.raised).toEqual([]);
    await on.call(watch, 1n, key);
    await watch.look();
    await on.call(watch, 1n, key);
    await watch.look();
    expect(on.messages()).toEqual([
      expect.stringContaining('has spent $0.0000008 of the cap of $0.000001, more than 80 %.'),
    ]);
    await on.call(watch, 199n, key);
    await watch.look();
    expect(on.messages()[1]).toContain('calls are refused');
    expect(on.raised.map(({ kind, dataJson }) => [kind, JSON.parse(dataJson).percent])).toEqual([
      ['key_cap', 80],
      ['key_cap', 100],
    ]);
  });

  test('counts as used up if a call was refused after most of it was spent, and not before', async () => {
    const watch = on.watcher();
    const key = await capped();
    watch.note({ accountId: 1n, key }, 0n, 0n, 'key');
    await watch.look();
    expect(on.raised).toEqual([]);
    await on.call(watch, 950n, key);
    watch.note({ accountId: 1n, key }, 0n, 0n, 'key');
    await watch.look();
    await watch.look();
    expect(on.raised.map(({ dataJson }) => JSON.parse(dataJson).percent)).toEqual([80, 100]);
    expect(await on.openConditions()).toHaveLength(2);
  });

  test('is resolved by a new window or a higher cap, and reported again in the next one', async () => {
    const watch = on.watcher();
    const key = await capped();
    await on.call(watch, 900n, key);
    await watch.look();
    await on.store.updateKey(7n, { capNanousd: 2_000n });
    await watch.look();
    expect(await on.openConditions()).toEqual([]);
    await on.store.updateKey(7n, { capNanousd: 1_000n });
    on.clock.advance(24 * 3_600_000);
    await on.call(watch, 900n, (await on.store.findKey(7n))!);
    await watch.look();
    expect(on.raised).toHaveLength(2);
  });

  test('of its person is reported for the person', async () => {
    await on.store.directory.createPerson(aPerson(3n), audit('person.create'));
    const membership = {
      accountId: 1n,
      personId: 3n,
      role: 'member',
      capNanousd: 100n,
      capWindow: 'lifetime',
    } as const;
    await on.store.directory.putMembership(membership, audit('member.put'));
    const key = await capped({ personId: 3n, capNanousd: null });
    const watch = on.watcher();
    await on.call(watch, 85n, key);
    await watch.look();
    expect(on.raised).toMatchObject([{ kind: 'person_cap', subject: expect.stringMatching(/^person_/) }]);
    expect(on.messages()[0]).toContain('Person3@Example.com has spent');
    await on.store.directory.putMembership({ ...membership, capNanousd: null }, audit('member.put'));
    await watch.look();
    expect(await on.openConditions()).toEqual([]);
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
      await on.store.directory.createPerson(aPerson(3n), audit('person.create'));
      const membership = { accountId: 1n, personId: 3n, role: 'member', capWindow: 'lifetime' } as const;
      await on.store.directory.putMembership({ ...membership, capNanousd: each.personCap }, audit('member.put'));
      const key = await capped({ personId: 3n, capNanousd: each.keyCap });
      const watch = on.watcher();
      await on.call(watch, 85n, key);
      for (const cap of each.caps) watch.note({ accountId: 1n, key }, 0n, 0n, cap);
      await watch.look();
      const usedUp = on.raised.filter(({ message }) => message.endsWith('calls are refused.'));
      expect(usedUp.map(({ kind }) => kind)).toEqual(each.refused);
      expect(on.raised).toHaveLength(2 + each.refused.length);
    },
  );

  test('is not reported if the setting is off', async () => {
    const watch = on.watcher({ capPercent: null });
    await on.call(watch, 999n, await capped());
    await watch.look();
    expect(on.raised).toEqual([]);
  });
});

describe('what runs the gateway', () => {
  test('a host that is set aside is reported once, however often it comes and goes within an hour', async () => {
    const watch = on.watcher();
    for (let times = 0; times < 3; times++) {
      on.hosts = [{ host: 'alpha', state: 'ejected', isRefusing: false }];
      await watch.look();
      on.hosts = [{ host: 'alpha', state: 'well', isRefusing: false }];
      await watch.look();
      expect(await on.openConditions()).toEqual([]);
    }
    expect(on.messages()).toEqual(['The host "alpha" fails, so it is not called for now.']);
    on.clock.advance(LIMITS.alertQuietMs);
    on.hosts = [{ host: 'alpha', state: 'key_refused', isRefusing: false }];
    await watch.look();
    expect(on.messages()[1]).toBe('The host "alpha" refuses our key, so it is not called for now.');
  });

  test('a host that another process calls well stays reported, until that process is long gone', async () => {
    on.hosts = [{ host: 'alpha', state: 'ejected', isRefusing: false }];
    await on.watcher().look();
    on.hosts = [{ host: 'alpha', state: 'well', isRefusing: false }];
    const other = on.watcher({}, 'two');
    await other.look();
    expect(await on.openConditions()).toEqual(['host:alpha']);
    on.clock.advance(LIMITS.alertOrphanMs);
    await other.look();
    expect(await on.openConditions()).toEqual([]);
  });

  test('a disk with little space is reported, and resolved when there is space again', async () => {
    const watch = on.watcher();
    on.freeBytes = GIGABYTE - 1;
    await watch.look();
    expect(on.messages()).toEqual([expect.stringContaining('has 1023 MB left; below 256 MB calls are refused.')]);
    on.freeBytes = GIGABYTE;
    await watch.look();
    expect(await on.openConditions()).toEqual([]);
  });

  test('nothing is reported, and nothing fails, where there is no data folder', async () => {
    on.freeBytes = null;
    await on.watcher().look();
    expect([on.raised, on.errors]).toEqual([[], []]);
  });

  test('a disk is no longer reported after the alert was turned off', async () => {
    on.freeBytes = GIGABYTE - 1;
    await on.watcher().look();
    expect(await on.openConditions()).toEqual(['disk:one']);
    on.clock.advance(LIMITS.alertOrphanMs);
    await on.watcher({ diskFreeBytes: null }).look();
    expect(await on.openConditions()).toEqual([]);
  });
});

test('an account that could not be read is looked at soon, although no further call is noted', async () => {
  const watch = on.watcher();
  for (let round = 0; round < 3; round++) await watch.look();
  await on.credit(1_000n);
  await on.call(watch, 900n);
  vi.spyOn(on.store, 'findAccount').mockRejectedValueOnce(new Error('away'));
  await watch.look();
  expect(on.errors.splice(0)).toHaveLength(1);
  await watch.look();
  expect(on.raised).toMatchObject([{ kind: 'balance' }]);
});

test('looks again and again, and goes on if the store was unreachable', async () => {
  const watch = on.watcher();
  watch.start();
  await on.credit(1_000n);
  await on.call(watch, 900n);
  const { findAccount } = on.store;
  on.store.findAccount = () => Promise.reject(new Error('away'));
  on.clock.advance(LIMITS.alertRoundMs);
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(on.errors.splice(0)).toHaveLength(1);
  on.store.findAccount = findAccount.bind(on.store);
  watch.note(PAYER, 1n, 0n, null);
  on.clock.advance(LIMITS.alertRoundMs);
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(on.raised.length).toBeGreaterThan(0);
  await watch.stop();
  const count = on.clock.pendingTimers;
  on.clock.advance(LIMITS.alertRoundMs);
  expect(on.clock.pendingTimers).toBe(count);
});
