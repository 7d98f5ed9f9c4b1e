import { describe, expect, it } from 'vitest';
import type { Membership } from '../src/store/people.ts';
import { aPerson, audit } from './people-fixtures.ts';
import { aHold, aKey, anAccount, NOON_MS, type OpenStore } from './store-fixtures.ts';
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
      const hold = aHold(++lastHoldId, 0n, { keyId: id, accountId: (await subject.store.findKey(id))!.accountId });
      return (await subject.kinds(hold))[0] === 'held';
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
  });
}
