import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import type { Membership } from '../src/store/people.ts';
import { aPerson, audit } from './people-fixtures.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

const MEMBER: Membership = {
  accountId: 1n,
  personId: 5n,
  role: 'member',
  capNanousd: null,
  capWindow: 'lifetime',
};

/** Keys that belong to a person, the same on both engines. */
export function personKeysContract(name: string, open: OpenStore): void {
  describe(`keys of a person: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = () => subject.store.directory;
    const enrol = async (membership: Membership = MEMBER): Promise<void> => {
      await directory().createPerson(aPerson(5n), audit('person.create'));
      await directory().putMembership(membership, audit('member.put'));
    };
    const works = async (id: bigint): Promise<boolean> => {
      const { version } = await subject.store.keysChangedSince(null);
      expect((await subject.store.findKey(id))!.version).toBeLessThanOrEqual(version);
      const { accountId, personId } = (await subject.store.findKey(id))!;
      return (await subject.kinds(aHold(++lastHoldId, 0n, { keyId: id, accountId, personId })))[0] === 'held';
    };
    let lastHoldId = 0n;

    it('are created only for a person who has a role in the account and is enabled', async () => {
      await subject.store.createAccount(anAccount(2n));
      await enrol();
      const create = (id: bigint, accountId: bigint, personId: bigint) =>
        subject.store.createKey(aKey(id, accountId, { personId }));
      expect(await create(7n, 1n, 5n)).toBe('created');
      expect(await subject.store.findKey(7n)).toMatchObject({ personId: 5n, disabledMs: null, personDisabledMs: null });
      expect([await create(8n, 2n, 5n), await create(8n, 1n, 6n)]).toEqual(['no_member', 'no_member']);
      await directory().disablePerson(5n, NOON_MS, audit('person.disable'));
      expect(await create(8n, 1n, 5n)).toBe('no_member');
    });

    it('stop with the person, in the same commit, and work again with the person', async () => {
      await enrol();
      for (const id of [7n, 8n]) await subject.store.createKey(aKey(id, 1n, { personId: 5n }));
      await subject.store.createKey(aKey(9n, 1n));
      await subject.store.updateKey(8n, { disabledMs: NOON_MS });
      expect([await works(7n), await works(8n), await works(9n)]).toEqual([true, false, true]);

      const { version } = await subject.store.keysChangedSince(null);
      await directory().disablePerson(5n, NOON_MS + 1, audit('person.disable'));
      const { keys } = await subject.store.keysChangedSince(version);
      expect(keys.map(({ id, personDisabledMs }) => [id, personDisabledMs])).toEqual([
        [7n, NOON_MS + 1],
        [8n, NOON_MS + 1],
      ]);
      expect([await works(7n), await works(8n), await works(9n)]).toEqual([false, false, true]);

      await directory().enablePerson(5n, audit('person.enable'));
      expect((await subject.store.keysChangedSince(keys.at(-1)!.version)).keys).toHaveLength(2);
      expect([await works(7n), await works(8n), await works(9n)]).toEqual([true, false, true]);
      expect(await subject.store.updateKey(8n, { disabledMs: null })).toMatchObject({ disabledMs: null });
      expect(await works(8n)).toBe(true);
    });

    it('stop in the account in which the person loses the role, until it is given again', async () => {
      await subject.store.createAccount(anAccount(2n));
      await enrol();
      await directory().putMembership({ ...MEMBER, accountId: 2n }, audit('member.put'));
      await subject.store.createKey(aKey(7n, 1n, { personId: 5n }));
      await subject.store.createKey(aKey(8n, 2n, { personId: 5n }));
      await directory().removeMembership(1n, 5n, audit('member.remove'));
      expect([await works(7n), await works(8n)]).toEqual([false, true]);
      await directory().disablePerson(5n, NOON_MS, audit('person.disable'));
      await directory().putMembership(MEMBER, audit('member.put'));
      expect([await works(7n), await works(8n)]).toEqual([false, false]);
      await directory().enablePerson(5n, audit('person.enable'));
      expect([await works(7n), await works(8n)]).toEqual([true, true]);
    });

    it('stop when the person becomes a viewer, who can have none, and work again for a member', async () => {
      await enrol();
      await subject.store.createKey(aKey(7n, 1n, { personId: 5n }));
      await directory().putMembership({ ...MEMBER, role: 'viewer' }, audit('member.put'));
      expect(await works(7n)).toBe(false);
      expect((await subject.store.findKey(7n))?.personDisabledMs).toBe(NOON_MS);
      expect(await subject.store.createKey(aKey(8n, 1n, { personId: 5n }))).toBe('no_member');
      await directory().putMembership({ ...MEMBER, role: 'owner' }, audit('member.put'));
      expect(await works(7n)).toBe(true);
    });

    it('lose their permissions when the person is no longer an owner, and keep those that a member was given', async () => {
      const permissions = ['account_read'] as const;
      const permissionsOf = async () => (await subject.store.findKey(7n))!.permissions;
      await enrol({ ...MEMBER, role: 'owner' });
      await subject.store.createKey(aKey(7n, 1n, { personId: 5n, permissions }));
      await subject.store.createKey(aKey(8n, 1n, { permissions }));
      await directory().putMembership({ ...MEMBER, role: 'owner', capNanousd: 5n }, audit('member.put'));
      expect(await permissionsOf()).toEqual(permissions);
      const { version } = await subject.store.keysChangedSince(null);
      await directory().putMembership(MEMBER, audit('member.put'));
      expect([await permissionsOf(), (await subject.store.findKey(8n))!.permissions]).toEqual([[], permissions]);
      expect((await subject.store.keysChangedSince(version)).keys.map(({ id }) => id)).toEqual([7n]);
      await subject.store.updateKey(7n, { allow: permissions });
      await directory().putMembership({ ...MEMBER, role: 'viewer' }, audit('member.put'));
      await directory().removeMembership(1n, 5n, audit('member.remove'));
      expect(await permissionsOf()).toEqual(permissions);
      await directory().putMembership({ ...MEMBER, role: 'owner' }, audit('member.put'));
      await directory().removeMembership(1n, 5n, audit('member.remove'));
      expect(await permissionsOf()).toEqual([]);
    });

    it('are bounded in number, in each account, by those that are not revoked', async () => {
      await enrol();
      const create = (id: bigint) => subject.store.createKey(aKey(id, 1n, { personId: 5n }));
      for (let id = 1n; id <= BigInt(LIMITS.keysPerPersonMax); id++) expect(await create(id)).toBe('created');
      expect(await create(1_000n)).toBe('too_many_keys');
      await subject.store.updateKey(1n, { revokedMs: NOON_MS });
      expect(await create(1_000n)).toBe('created');
    });

    it('are used only with the person they belong to', async () => {
      await enrol();
      await directory().createPerson(aPerson(6n), audit('person.create'));
      await directory().putMembership({ ...MEMBER, personId: 6n }, audit('member.put'));
      await subject.store.createKey(aKey(7n, 1n, { personId: 5n }));
      await subject.store.createKey(aKey(8n, 1n));
      const hold = (keyId: bigint | null, personId: bigint | null) => aHold(1n, 0n, { keyId, personId });
      const wrong = [hold(7n, null), hold(7n, 6n), hold(8n, 5n), hold(null, 5n)];
      expect(await subject.kinds(...wrong)).toEqual(wrong.map(() => 'key_inactive'));
      expect(await subject.kinds(hold(7n, 5n))).toEqual(['held']);
      expect((await subject.store.findReceipt(1n, null))?.personId).toBe(5n);
    });
  });

  describe(`the cap of a person: ${name}`, () => {
    const subject = new StoreSubject(open);
    const put = (over: Partial<Membership>) =>
      subject.store.directory.putMembership({ ...MEMBER, ...over }, audit('member.put'));
    const spending = async (accountId = 1n): Promise<bigint[]> => {
      const member = await subject.store.directory.findMember(accountId, 5n, subject.clock.nowMs());
      return [member!.window.heldNanousd, member!.window.spentNanousd];
    };
    const hold = (id: bigint, amount: bigint, keyId: bigint, over: Parameters<typeof aHold>[2] = {}) =>
      aHold(id, amount, { keyId, personId: 5n, ...over });
    const exact = async () => expect((await subject.store.verify()).violations).toEqual([]);

    beforeEach(async () => {
      await subject.store.directory.createPerson(aPerson(5n), audit('person.create'));
      await put({ capNanousd: 100n });
      await subject.store.createKey(aKey(7n, 1n, { personId: 5n }));
      await subject.store.createKey(aKey(8n, 1n, { personId: 5n, capNanousd: 60n }));
      await subject.store.createKey(aKey(9n, 1n));
      await subject.store.apply([aCredit(1n, 1_000n)]);
    });

    it("is checked after the key's cap, over all keys of the person, and not for other keys", async () => {
      expect(await subject.store.apply([hold(1n, 101n, 7n), hold(1n, 101n, 8n)])).toEqual([
        { kind: 'hold_refused', reason: 'person_cap', availableNanousd: 100n },
        { kind: 'hold_refused', reason: 'key_cap', availableNanousd: 60n },
      ]);
      expect(await subject.kinds(hold(1n, 70n, 7n), hold(2n, 31n, 8n), hold(3n, 30n, 8n))).toEqual([
        'held',
        'person_cap',
        'held',
      ]);
      expect(await spending()).toEqual([100n, 0n]);
      expect(await subject.kinds(aHold(4n, 500n, { keyId: 9n }))).toEqual(['held']);
      expect(await subject.kinds(aSettle(1n, 20n), { kind: 'void', id: 3n, reason: 'gone' })).toEqual([
        'settled',
        'voided',
      ]);
      expect(await spending()).toEqual([0n, 20n]);
      expect(await subject.kinds(hold(5n, 81n, 7n), hold(5n, 80n, 7n))).toEqual(['person_cap', 'held']);
      await exact();
    });

    it('counts each account apart', async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      await put({ accountId: 2n, capNanousd: 5n });
      await subject.store.createKey(aKey(10n, 2n, { personId: 5n }));
      const other = (id: bigint, amount: bigint) => hold(id, amount, 10n, { accountId: 2n });
      expect(await subject.kinds(hold(1n, 100n, 7n), other(2n, 6n), other(3n, 5n))).toEqual([
        'held',
        'person_cap',
        'held',
      ]);
      expect([await spending(1n), await spending(2n)]).toEqual([
        [100n, 0n],
        [5n, 0n],
      ]);
    });

    it('may be changed while calls run: each call counts in the window in which it was held', async () => {
      await subject.kinds(hold(1n, 50n, 7n));
      await put({ capNanousd: 40n, capWindow: 'day' });
      expect(await spending()).toEqual([0n, 0n]);
      expect(await subject.kinds(hold(2n, 41n, 7n), hold(2n, 40n, 7n))).toEqual(['person_cap', 'held']);
      await put({ capNanousd: 30n, capWindow: 'lifetime' });
      expect(await spending()).toEqual([50n, 0n]);
      expect(await subject.kinds(hold(3n, 1n, 7n))).toEqual(['person_cap']);
      expect(await subject.kinds(aSettle(1n, 10n), aSettle(2n, 40n))).toEqual(['settled', 'settled']);
      expect(await spending()).toEqual([0n, 10n]);
      await put({ capNanousd: null });
      expect(await subject.kinds(hold(3n, 900n, 7n))).toEqual(['held']);
      await exact();
    });

    it('resets with its window, and outlives a restart and the closing of the books', async () => {
      await put({ capNanousd: 100n, capWindow: 'day' });
      await subject.kinds(hold(1n, 90n, 7n), hold(2n, 10n, 8n), aSettle(1n, 90n));
      await subject.reopen();
      const { epoch } = await subject.store.beginInstance();
      expect(await spending()).toEqual([0n, 90n]);
      expect(await subject.kinds(hold(3n, 11n, 7n, { epoch }))).toEqual(['person_cap']);
      subject.clock.setNowMs(NOON_MS + 12 * 3_600_000);
      expect(await spending()).toEqual([0n, 0n]);
      expect(await subject.kinds(hold(3n, 100n, 7n, { epoch }))).toEqual(['held']);
      await subject.kinds(aSettle(3n, 1n));
      subject.clock.setNowMs(NOON_MS + 14 * 3_600_000);
      await subject.store.closeBooks(subject.clock.nowMs());
      expect(await spending()).toEqual([0n, 1n]);
      await exact();
    });

    it('counts a call whose person loses the role while it runs', async () => {
      await subject.kinds(hold(1n, 50n, 7n));
      await subject.store.directory.removeMembership(1n, 5n, audit('member.remove'));
      expect(await subject.kinds(aSettle(1n, 30n))).toEqual(['settled']);
      await put({ capNanousd: 100n });
      expect(await spending()).toEqual([0n, 30n]);
      await exact();
    });
  });
}
