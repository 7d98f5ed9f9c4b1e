import { describe, expect, it } from 'vitest';
import { aJob, aRelease, aReserve, aStart, LEASE_MS } from './job-fixtures.ts';
import { audit } from './people-fixtures.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

/** Names and states of accounts, the same on every engine. */
export function accountsContract(name: string, open: OpenStore): void {
  describe(`states of an account: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = () => subject.store.directory;
    const suspend = (id = 1n) => directory().setAccountStatus(id, 'suspended', audit('account.suspend'));
    const resume = (id = 1n) => directory().setAccountStatus(id, 'active', audit('account.resume'));
    const payout = (id: bigint) => ({ id, reference: `closing-${id}`, note: 'paid out', createdMs: NOON_MS });
    const close = (id = 1n, creditId = 90n) => directory().closeAccount(id, payout(creditId), audit('account.close'));
    const exact = async () => expect((await subject.store.verify()).violations).toEqual([]);

    it('refuses new holds of a suspended account after the key and before money, and ends the running ones', async () => {
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.apply([aCredit(1n, 100n), aHold(1n, 60n, { keyId: 7n })]);
      expect(await suspend()).toBe('changed');
      expect(await subject.store.findAccount(1n)).toMatchObject({ status: 'suspended', version: 2n });
      expect(
        await subject.kinds(
          aHold(2n, 1n),
          aHold(2n, 1n, { keyId: 8n }),
          aHold(2n, 500n, { keyId: 7n, ceilingNanousd: 1n }),
          aCredit(2n, 5n),
          aSettle(1n, 20n),
        ),
      ).toEqual(['account_suspended', 'key_inactive', 'account_suspended', 'credited', 'settled']);
      await subject.reopen();
      const { epoch } = await subject.store.beginInstance();
      expect(await subject.kinds(aHold(2n, 1n, { epoch }))).toEqual(['account_suspended']);
      expect([await resume(), await resume()]).toEqual(['changed', 'unchanged']);
      expect(await subject.kinds(aHold(2n, 85n, { epoch }))).toEqual(['held']);
      await exact();
    });

    it('offers no jobs of a suspended account to be run, until it is resumed', async () => {
      const { store } = subject;
      await store.apply([aCredit(1n, 100n)]);
      await store.jobs.stage([aJob(10n, 40n)], []);
      await store.apply([aReserve(10n, 40n)]);
      await suspend();
      expect(await store.jobs.accountsWithDueJobs(NOON_MS, null, 10)).toEqual([]);
      expect(await store.jobs.nextDueMs()).toBeNull();
      await resume();
      expect(await store.jobs.accountsWithDueJobs(NOON_MS, null, 10)).toEqual([1n]);
      expect(await store.jobs.nextDueMs()).toBe(NOON_MS);
    });

    it('is closed only when it is suspended and no call is open, and is paid out in the same commit', async () => {
      await subject.store.apply([aCredit(1n, 100n), aHold(1n, 60n)]);
      expect(await close()).toEqual({ kind: 'not_suspended' });
      await suspend();
      expect(await close()).toEqual({ kind: 'calls_open', calls: 1, heldNanousd: 60n });
      await subject.kinds(aSettle(1n, 20n));
      expect(await close()).toEqual({ kind: 'closed', paidOutNanousd: 80n });
      expect(await subject.balance()).toEqual([0n, 0n, 20n]);
      expect(await subject.store.findAccount(1n)).toMatchObject({ status: 'closed', version: 3n });
      expect(await close(1n, 91n)).toEqual({ kind: 'already_closed' });
      expect([await suspend(), await resume()]).toEqual(['closed', 'closed']);
      expect(await subject.kinds(aHold(2n, 0n), aCredit(2n, 5n), aCredit(1n, 100n))).toEqual([
        'account_closed',
        'account_closed',
        'credit_repeated',
      ]);
      await exact();
    });

    it('is closed only when no job waits, and nothing of what is reserved is paid out', async () => {
      await subject.store.apply([aCredit(1n, 100n)]);
      await subject.store.jobs.stage([aJob(10n, 60n)], []);
      expect(await subject.kinds(aReserve(10n, 60n))).toEqual(['reserved']);
      await suspend();
      expect(await close()).toEqual({ kind: 'jobs_waiting' });
      expect(await subject.kinds(aRelease(10n))).toEqual(['released']);
      expect(await close()).toEqual({ kind: 'closed', paidOutNanousd: 100n });
      await exact();
    });

    it('leaves a job waiting while it is suspended', async () => {
      await subject.store.apply([aCredit(1n, 100n)]);
      await subject.store.jobs.stage([aJob(10n, 60n)], []);
      await subject.kinds(aReserve(10n, 60n));
      await subject.store.jobs.claim(1n, NOON_MS, LEASE_MS, 1);
      await suspend();
      expect(await subject.kinds(aStart(20n, 10n, 60n))).toEqual(['account_suspended']);
      await resume();
      expect(await subject.kinds(aStart(20n, 10n, 60n))).toEqual(['held']);
    });

    it('is closed without an entry if it has no money, and with one that pays a debt back', async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      await subject.kinds(aHold(1n, 30n, { accountId: 2n }), aSettle(1n, 30n));
      for (const id of [1n, 2n]) await suspend(id);
      expect([await close(1n), await close(2n)]).toEqual([
        { kind: 'closed', paidOutNanousd: 0n },
        { kind: 'closed', paidOutNanousd: -30n },
      ]);
      expect(await subject.balance(2n)).toEqual([0n, 0n, 30n]);
      expect((await subject.store.verify()).credits).toBe(1);
      await exact();
    });

    it('is renamed in the version that was read, to a name that is free', async () => {
      await subject.store.createAccount(anAccount(2n));
      const rename = (to: string, version: bigint | null) =>
        directory().renameAccount(1n, to, version, audit('account.rename'));
      expect(await rename('account-2', null)).toBe('name_taken');
      expect([await rename('first', 1n), await rename('second', 1n)]).toEqual(['renamed', 'version_conflict']);
      expect([await rename('second', null), await rename('second', 3n)]).toEqual(['renamed', 'renamed']);
      expect(await subject.store.findAccount('second')).toMatchObject({ id: 1n, version: 4n });
      expect(await subject.store.findAccount('first')).toBeNull();
      expect(await directory().renameAccount(9n, 'x', null, audit('x'))).toBe('not_found');
      expect([await suspend(9n), await close(9n)]).toEqual(['not_found', { kind: 'not_found' }]);
    });

    it('loses its stored provider keys when it is closed, and stores none after that', async () => {
      await subject.store.createAccount(anAccount(2n));
      const key = { provider: 'cloud', baseUrl: 'https://a.example', lastFour: 'wxyz', sealed: Uint8Array.of(1) };
      const put = (id: bigint, accountId: bigint) =>
        subject.store.putProviderKey({ ...key, id, accountId, createdMs: NOON_MS, verifiedMs: NOON_MS });
      expect([await put(5n, 1n), await put(6n, 2n)]).toEqual(['stored', 'stored']);
      await suspend();
      await close();
      expect([await subject.store.listProviderKeys(1n), await put(7n, 1n)]).toEqual([[], 'account_closed']);
      expect((await subject.store.listProviderKeys(2n)).map(({ id }) => id)).toEqual([6n]);
    });

    it('has a name of its own, even when others take it at the same moment', async () => {
      for (let round = 1n; round <= 8n; round++) {
        const to = `taken-${round}`;
        const outcomes = await Promise.all([
          directory().renameAccount(1n, to, null, audit('account.rename')),
          subject.store.createAccount(anAccount(100n + round, { name: to })),
          subject.store.createAccount(anAccount(200n + round, { name: to })),
        ]);
        expect(outcomes.filter((outcome) => outcome !== 'name_taken')).toHaveLength(1);
      }
    });

    it('lets many holds and one suspension run at once: every hold is decided before or after it', async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      const holds = Array.from({ length: 30 }, (_, at) => subject.kinds(aHold(BigInt(at + 1), 10n)));
      const [, ...outcomes] = await Promise.all([suspend(), ...holds]);
      const held = outcomes.flat().filter((kind) => kind === 'held').length;
      expect(outcomes.flat().every((kind) => kind === 'held' || kind === 'account_suspended')).toBe(true);
      expect((await subject.balance())[1]).toBe(BigInt(10 * held));
      expect(await subject.kinds(aHold(99n, 1n))).toEqual(['account_suspended']);
      await exact();
    });
  });
}
