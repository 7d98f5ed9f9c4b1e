import { describe, expect, it } from 'vitest';
import type { Directory } from '../src/store/directory.ts';
import type { AccountRole, ActorKind } from '../src/store/people.ts';
import { aManagementKey, aPerson, audit } from './people-fixtures.ts';
import { aKey, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

/** Who may change people, their roles and keys is decided in the commit of the change, the same on both engines. */
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

    describe('a key', () => {
      const by = (actorId: bigint) => ({ ...audit('x'), actorKind: 'person', actorId }) as const;
      const allow = ['webhooks'] as const;
      const rotation = (hash: string) => ({
        secret: { sha256Hex: hash, prefix: 'tg_live_abcd', lastFour: 'wxyz' },
        oldExpiresMs: NOON_MS,
      });
      const put = (personId: bigint, role: AccountRole) =>
        directory().putMembership({ accountId: 1n, personId, role, capNanousd: null, capWindow: 'day' }, audit('x'));

      it('gets permissions only from owners of the account and operators, as they are in the commit', async () => {
        const { store } = subject;
        for (const id of [1n, 2n]) await directory().createPerson(aPerson(id), audit('x'));
        await put(1n, 'owner');
        await directory().changePerson(2n, { isOperator: true }, null, audit('x'));
        expect(await store.createKey(aKey(7n, 1n, { personId: 1n }), by(1n))).toBe('created');
        expect(await store.updateKey(7n, { allow }, by(1n))).toMatchObject({ permissions: allow });
        expect(await store.updateKey(7n, { allow: ['account_read'] }, by(2n))).toMatchObject({ id: 7n });

        await put(1n, 'member');
        await directory().changePerson(2n, { isOperator: false }, null, audit('x'));
        const refused = [
          await store.updateKey(7n, { allow }, by(1n)),
          await store.updateKey(7n, { ownerTerms: {}, capNanousd: null }, by(1n)),
          await store.createKey(aKey(8n, 1n, { personId: 1n, permissions: allow }), by(1n)),
          await store.updateKey(7n, { allow }, by(2n)),
        ];
        expect(refused).toEqual(Array(4).fill('not_allowed'));
        expect(await store.findKey(7n)).toMatchObject({ permissions: [], ownerTerms: {} });
        expect(await store.findKey(8n)).toBeNull();
      });

      it('is created, changed and rotated by members only if it is their own, and by viewers never', async () => {
        const { store } = subject;
        for (const id of [1n, 2n]) await directory().createPerson(aPerson(id), audit('x'));
        await put(1n, 'member');
        expect(await store.createKey(aKey(7n, 1n, { personId: 1n }), by(1n))).toBe('created');
        expect(await store.updateKey(7n, { note: 'mine' }, by(1n))).toMatchObject({ note: 'mine' });
        expect(await store.rotateKey(7n, rotation('first'), by(1n))).toBe('rotated');
        await store.createKey(aKey(8n, 1n), audit('x'));
        expect([
          await store.createKey(aKey(9n, 1n), by(1n)),
          await store.updateKey(8n, { capNanousd: null }, by(1n)),
          await store.rotateKey(8n, rotation('second'), by(1n)),
        ]).toEqual(Array(3).fill('not_allowed'));

        await put(1n, 'viewer');
        expect([
          await store.updateKey(7n, { note: 'still mine' }, by(1n)),
          await store.rotateKey(7n, rotation('third'), by(1n)),
        ]).toEqual(Array(2).fill('not_allowed'));
        expect(await store.findKey(7n)).toMatchObject({ note: 'mine', sha256Hex: 'first' });
      });
    });
  });
}
