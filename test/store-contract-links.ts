import { describe, expect, it } from 'vitest';
import type { Directory } from '../src/store/directory.ts';
import { aManagementKey, anInvitation, aPerson, audit } from './people-fixtures.ts';
import { NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

/** What the links of invitations and resets take and give, the same on both engines. */
export function linkContract(name: string, open: OpenStore): void {
  describe(`contract of links: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;

    it('that resets a password also ends single sign-on, management keys and other reset links', async () => {
      const identity = { issuer: 'https://id.example.com', subject: 'somebody else' };
      await directory().createPerson(aPerson(1n, { identity }), audit('x'));
      await directory().createManagementKey(aManagementKey(5n, { mintedBy: 1n }), audit('x'));
      await directory().createInvitation(anInvitation(3n, { resetsPersonId: 1n }), audit('x'));
      await directory().createInvitation(anInvitation(4n, { resetsPersonId: 1n }), audit('x'));
      const reset = await directory().resetPassword('hash-3', 'new', NOON_MS, audit('x'));
      expect(reset).toMatchObject({ passwordHash: 'new', identity: null });
      expect(await directory().findManagementKeyByHash('management-5')).toMatchObject({ revokedMs: NOON_MS });
      expect(await directory().resetPassword('hash-4', 'newer', NOON_MS, audit('x'))).toBe('not_open');
    });

    it('makes nobody an operator once its maker is no operator any more, even if they are an owner', async () => {
      await directory().createPerson(aPerson(1n, { isOperator: true }), audit('x'));
      const owner = { accountId: 1n, personId: 1n, role: 'owner', capNanousd: null, capWindow: 'lifetime' } as const;
      await directory().putMembership(owner, audit('x'));
      await directory().createInvitation(anInvitation(3n, { invitedBy: 1n, isOperator: true }), audit('x'));
      await directory().changePerson(1n, { isOperator: false }, null, audit('x'));
      const accepted = directory().acceptInvitation('hash-3', { newPerson: aPerson(4n) }, NOON_MS, audit('x'));
      expect(await accepted).toBe('not_open');
    });
  });
}
