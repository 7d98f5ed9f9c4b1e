import { describe, expect, it } from 'vitest';
import type { Directory } from '../src/store/directory.ts';
import type { AccountRole, ActorKind } from '../src/store/people.ts';
import { aManagementKey, aPerson, audit } from './people-fixtures.ts';
import { NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

/** Who may change people and their roles is decided in the commit of the change, the same on both engines. */
export function standingContract(name: string, open: OpenStore): void {
  describe(`contract of standing: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;

    describe('a membership', () => {
      it('is changed by owners of the account and operators only, as they are in the commit', async () => {
        for (const id of [1n, 2n, 3n]) await directory().createPerson(aPerson(id), audit('person.create'));
        const terms = { accountId: 1n, capNanousd: null, capWindow: 'day' } as const;
        const put = (actorId: bigint, role: AccountRole, kind: ActorKind = 'person') =>
          directory().putMembership({ ...terms, personId: 2n, role }, { ...audit('x'), actorKind: kind, actorId });
        await directory().putMembership({ ...terms, personId: 1n, role: 'owner' }, audit('x'));
        await directory().changePerson(3n, { isOperator: true }, null, audit('x'));
        await directory().createManagementKey(aManagementKey(7n, { accountId: 1n, role: 'owner' }), audit('x'));
        await directory().createManagementKey(aManagementKey(8n, { accountId: 1n, role: 'viewer' }), audit('x'));
        expect([await put(1n, 'member'), await put(3n, 'viewer'), await put(7n, 'member', 'management_key')]).toEqual(
          Array(3).fill('stored'),
        );
        expect([await put(2n, 'owner'), await put(8n, 'owner', 'management_key')]).toEqual(
          Array(2).fill('not_allowed'),
        );
        await directory().removeMembership(1n, 1n, audit('x'));
        await directory().disablePerson(3n, NOON_MS, audit('x'));
        await directory().revokeManagementKey(7n, NOON_MS, audit('x'));
        expect([await put(1n, 'owner'), await put(3n, 'owner'), await put(7n, 'owner', 'management_key')]).toEqual(
          Array(3).fill('not_allowed'),
        );
        const byFormer = { ...audit('x'), actorKind: 'person', actorId: 3n } as const;
        expect(await directory().enablePerson(3n, byFormer)).toBe('not_allowed');
        expect(await directory().membershipsOf(2n)).toMatchObject([{ role: 'member' }]);
      });
    });
  });
}
