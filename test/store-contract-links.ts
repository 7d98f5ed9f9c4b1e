import { describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import type { Directory } from '../src/store/directory.ts';
import type { InvitationStatus, PersonCap } from '../src/store/people.ts';
import { aManagementKey, anInvitation, aPerson, aSession, audit, DAY_MS } from './people-fixtures.ts';
import { anAccount, FIRST_PAGE, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

const OWNER = { accountId: 1n, personId: 1n, role: 'owner', capNanousd: null, capWindow: 'lifetime' } as const;

/** What the links of invitations and resets require and do, the same on both engines. */
export function linkContract(name: string, open: OpenStore): void {
  describe(`contract of links: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;
    const anOwner = async (personId: bigint): Promise<void> => {
      await directory().createPerson(aPerson(personId), audit('x'));
      await directory().putMembership({ ...OWNER, personId }, audit('x'));
    };

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

    it('is deleted some time after it has ended, however it ended', async () => {
      await directory().createManagementKey(aManagementKey(7n), audit('x'));
      const endsAt = (id: bigint, expiresMs: number) =>
        directory().createInvitation(anInvitation(id, { email: `new${id}@x`, expiresMs, madeWith: 7n }), audit('x'));
      for (const id of [1n, 2n, 3n]) await endsAt(id, NOON_MS + 10);
      await endsAt(4n, NOON_MS + 20);
      await directory().acceptInvitation('hash-1', { newPerson: aPerson(1n) }, NOON_MS, audit('x'));
      await directory().revokeInvitation(2n, NOON_MS, audit('x'));
      const sweep = (limit: number) => directory().forgetInvitations(NOON_MS + 11, limit);
      expect([await sweep(2), await sweep(2), await sweep(2)]).toEqual([2, 1, 0]);
      expect((await directory().listInvitations(null, FIRST_PAGE)).map(({ id }) => id)).toEqual([4n]);
      expect(await directory().membershipsOf(1n)).toHaveLength(1);
    });

    it('keeps the management key that made it as long as it is stored; others are deleted once they ended long ago', async () => {
      const expiresMs = NOON_MS + 10;
      for (const id of [5n, 6n, 7n])
        await directory().createManagementKey(aManagementKey(id, { expiresMs }), audit('x'));
      for (const id of [8n, 9n]) await directory().createManagementKey(aManagementKey(id), audit('x'));
      await directory().revokeManagementKey(8n, NOON_MS + 5, audit('x'));
      await directory().createInvitation(anInvitation(3n, { madeWith: 7n }), audit('x'));
      const forget = (limit: number) => directory().forgetManagementKeys(NOON_MS + 11, limit);
      expect(await directory().forgetManagementKeys(NOON_MS + 5, 9)).toBe(0);
      expect([await forget(2), await forget(2), await forget(2)]).toEqual([2, 1, 0]);
      expect((await directory().listManagementKeys(null, FIRST_PAGE)).map(({ id }) => id)).toEqual([7n, 9n]);
    });

    it('makes nobody an operator once its maker is no longer an operator, even if they are an owner', async () => {
      await directory().createPerson(aPerson(1n, { isOperator: true }), audit('x'));
      const owner = { accountId: 1n, personId: 1n, role: 'owner', capNanousd: null, capWindow: 'lifetime' } as const;
      await directory().putMembership(owner, audit('x'));
      await directory().createInvitation(anInvitation(3n, { invitedBy: 1n, isOperator: true }), audit('x'));
      await directory().changePerson(1n, { isOperator: false }, null, audit('x'));
      const accepted = directory().acceptInvitation('hash-3', { newPerson: aPerson(4n) }, NOON_MS, audit('x'));
      expect(await accepted).toBe('not_open');
    });

    it('of an owner confirms no address: its person has no role elsewhere until an operator resets them', async () => {
      await subject.store.createAccount(anAccount(2n));
      await anOwner(1n);
      await directory().createInvitation(anInvitation(3n, { invitedBy: 1n }), audit('x'));
      await directory().createInvitation(anInvitation(4n, { accountId: 2n }), audit('x'));
      await directory().createInvitation(anInvitation(5n, { isOperator: true }), audit('x'));
      const joined = await directory().acceptInvitation('hash-3', { newPerson: aPerson(9n) }, NOON_MS, audit('x'));
      expect(joined).toMatchObject({ id: 9n, unconfirmedIn: 1n });
      const accept = (hash: string) => directory().acceptInvitation(hash, { personId: 9n }, NOON_MS, audit('x'));
      const put = (accountId: bigint) => directory().putMembership({ ...OWNER, accountId, personId: 9n }, audit('x'));
      const promote = () => directory().changePerson(9n, { isOperator: true }, null, audit('x'));
      expect([await accept('hash-4'), await accept('hash-5')]).toEqual(['unconfirmed', 'unconfirmed']);
      expect([await put(2n), await promote(), await put(1n)]).toEqual(['unconfirmed', 'unconfirmed', 'stored']);
      await directory().createInvitation(anInvitation(6n, { resetsPersonId: 9n }), audit('x'));
      await directory().resetPassword('hash-6', 'new', NOON_MS, audit('x'));
      expect([await accept('hash-4'), await accept('hash-5')]).toMatchObject([{ unconfirmedIn: null }, { id: 9n }]);
      expect((await directory().findPerson(9n))?.isOperator).toBe(true);
    });

    it('says what accepting it would give, while its maker may give it', async () => {
      await subject.store.createAccount(anAccount(2n));
      await anOwner(1n);
      await directory().createInvitation(anInvitation(3n, { invitedBy: 1n }), audit('x'));
      await directory().createInvitation(anInvitation(4n, { accountId: 2n }), audit('x'));
      await directory().createInvitation(anInvitation(5n, { accountId: null, role: null }), audit('x'));
      const offer = (hash: string, nowMs = NOON_MS) => directory().findOffer(hash, nowMs);
      expect(await offer('hash-3')).toMatchObject({ accountName: anAccount(1n).name, known: null, mayJoin: true });
      expect(await offer('hash-5')).toMatchObject({ accountName: null, known: null });
      await directory().acceptInvitation('hash-3', { newPerson: aPerson(9n) }, NOON_MS, audit('x'));
      expect(await offer('hash-3')).toBeNull();
      expect(await offer('hash-4')).toMatchObject({ known: { id: 9n }, mayJoin: false });
      expect(await offer('hash-4', NOON_MS + DAY_MS)).toBeNull();
      await directory().createInvitation(anInvitation(6n, { invitedBy: 1n }), audit('x'));
      expect(await offer('hash-6')).toMatchObject({ mayJoin: true });
      await directory().removeMembership(1n, 1n, audit('x'));
      expect(await offer('hash-6')).toBeNull();
    });

    it.each([
      ['an operator', { isOperator: true }],
      ['the command line', null],
    ])('of %s confirms the address', async (_maker, maker) => {
      if (maker !== null) await directory().createPerson(aPerson(1n, maker), audit('x'));
      await directory().createInvitation(anInvitation(3n, { invitedBy: maker === null ? null : 1n }), audit('x'));
      const joined = await directory().acceptInvitation('hash-3', { newPerson: aPerson(9n) }, NOON_MS, audit('x'));
      expect(joined).toMatchObject({ unconfirmedIn: null });
    });

    it('of an owner is enough for an address that the provider of single sign-on verified', async () => {
      await anOwner(1n);
      await directory().createInvitation(anInvitation(3n, { invitedBy: 1n }), audit('x'));
      const newPerson = aPerson(9n, { identity: { issuer: 'https://id.example', subject: 'a' } });
      const joined = await directory().acceptInvitation('hash-3', { newPerson }, NOON_MS, audit('x'));
      expect(joined).toMatchObject({ unconfirmedIn: null });
    });

    it('ends with the management key that made it, and confirms no address if the key is of one account', async () => {
      await directory().createManagementKey(aManagementKey(5n, { accountId: 1n, role: 'owner' }), audit('x'));
      await directory().createManagementKey(aManagementKey(6n, { expiresMs: NOON_MS + 1 }), audit('x'));
      for (const [id, madeWith] of [
        [3n, 5n],
        [4n, 5n],
        [7n, 6n],
      ] as const)
        await directory().createInvitation(anInvitation(id, { madeWith, email: `p${id}@example.com` }), audit('x'));
      const accept = (hash: string, id: bigint, nowMs = NOON_MS) =>
        directory().acceptInvitation(hash, { newPerson: aPerson(id) }, nowMs, audit('x'));
      expect(await accept('hash-3', 9n)).toMatchObject({ unconfirmedIn: 1n });
      await directory().revokeManagementKey(5n, NOON_MS, audit('x'));
      expect(await accept('hash-4', 10n)).toBe('not_open');
      expect(await accept('hash-7', 11n, NOON_MS + 1)).toBe('not_open');
      expect(await accept('hash-7', 11n)).toMatchObject({ unconfirmedIn: null });
    });

    it('gives its cap, and without one somebody who comes back has the cap from before', async () => {
      const invite = (id: bigint, cap: PersonCap | null) =>
        directory().createInvitation(anInvitation(id, { cap }), audit('x'));
      const capNow = async () => (await directory().membershipsOf(9n)).map(({ capNanousd }) => capNanousd);
      await invite(3n, { capNanousd: 7n, capWindow: 'day' });
      await directory().acceptInvitation('hash-3', { newPerson: aPerson(9n) }, NOON_MS, audit('x'));
      expect(await directory().membershipsOf(9n)).toMatchObject([{ capNanousd: 7n, capWindow: 'day' }]);
      await directory().removeMembership(1n, 9n, audit('x'));
      expect(await directory().findPersonCap(1n, 9n)).toEqual({ capNanousd: 7n, capWindow: 'day' });
      await invite(4n, null);
      await directory().acceptInvitation('hash-4', { personId: 9n }, NOON_MS, audit('x'));
      expect(await capNow()).toEqual([7n]);
      await invite(5n, { capNanousd: 8n, capWindow: 'month' });
      await directory().acceptInvitation('hash-5', { personId: 9n }, NOON_MS, audit('x'));
      expect([await capNow(), await directory().findPersonCap(1n, 8n)]).toEqual([[8n], null]);
    });

    it('ends when its person is removed from the account, and stays open for others and elsewhere', async () => {
      await subject.store.createAccount(anAccount(2n));
      await directory().createPerson(aPerson(9n, { email: 'New@example.com' }), audit('x'));
      await directory().putMembership({ ...OWNER, personId: 9n }, audit('x'));
      const others = [{}, { accountId: 2n }, { email: 'another@example.com' }];
      for (const [at, over] of others.entries())
        await directory().createInvitation(anInvitation(BigInt(at + 3), over), audit('x'));
      await directory().removeMembership(1n, 9n, audit('x'));
      const found = await directory().listInvitations(null, FIRST_PAGE);
      expect(found.map(({ revokedMs }) => revokedMs)).toEqual([NOON_MS, null, null]);
    });

    it('is listed by the status that it has at a time, page by page, also in one account', async () => {
      await subject.store.createAccount(anAccount(2n));
      for (let id = 1n; id <= 8n; id++)
        await directory().createInvitation(
          anInvitation(id, { email: `new${id}@x`, accountId: id === 8n ? 2n : 1n, expiresMs: NOON_MS + 10 }),
          audit('x'),
        );
      await directory().createInvitation(anInvitation(9n, { expiresMs: NOON_MS + 20 }), audit('x'));
      await directory().acceptInvitation('hash-1', { newPerson: aPerson(1n) }, NOON_MS, audit('x'));
      await directory().revokeInvitation(2n, NOON_MS, audit('x'));
      const list = async (
        status: InvitationStatus,
        nowMs: number,
        accountId: bigint | null = null,
        page = FIRST_PAGE,
      ) => (await directory().listInvitations(accountId, page, { status, nowMs })).map(({ id }) => Number(id));
      expect(await list('accepted', NOON_MS)).toEqual([1]);
      expect(await list('revoked', NOON_MS)).toEqual([2]);
      expect(await list('open', NOON_MS)).toEqual([3, 4, 5, 6, 7, 8, 9]);
      expect(await list('expired', NOON_MS)).toEqual([]);
      expect(await list('open', NOON_MS + 10)).toEqual([9]);
      expect(await list('expired', NOON_MS + 10)).toEqual([3, 4, 5, 6, 7, 8]);
      expect(await list('expired', NOON_MS + 10, 2n)).toEqual([8]);
      expect(await list('expired', NOON_MS + 10, 1n, { after: 4n, limit: 2 })).toEqual([5, 6]);
      expect([await list('accepted', NOON_MS + 99), await list('revoked', NOON_MS + 99)]).toEqual([[1], [2]]);
    });

    it('is one of a bounded number of open ones of an account', async () => {
      for (let id = 1n; id <= BigInt(LIMITS.openInvitationsMax); id++)
        expect(await directory().createInvitation(anInvitation(id), audit('x'))).toBe('created');
      const another = anInvitation(1_000n);
      expect(await directory().createInvitation(another, audit('x'))).toBe('too_many');
      expect(await directory().createInvitation({ ...another, accountId: null }, audit('x'))).toBe('created');
      await directory().revokeInvitation(1n, NOON_MS, audit('x'));
      const next = { ...another, id: 1_001n, sha256Hex: 'next' };
      expect(await directory().createInvitation(next, audit('x'))).toBe('created');
    });

    it('is found by an address with letters beyond ASCII in any case', async () => {
      await directory().createInvitation(anInvitation(3n, { email: 'ÄDA@example.com' }), audit('x'));
      expect(await directory().invitationsFor('äda@example.com', NOON_MS)).toHaveLength(1);
    });
  });

  describe(`identities of single sign-on: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;
    const identity = { issuer: 'https://id.example', subject: 'a' };
    const link = (confirmsAddress: boolean) =>
      directory().linkIdentity(9n, { identity, confirmsAddress, keptSessionId: 7n }, audit('person.link'));

    it('replace the one before, and end the other sessions', async () => {
      await directory().createPerson(aPerson(1n, { identity: { ...identity, subject: 'b' } }), audit('x'));
      await directory().createPerson(aPerson(9n, { passwordHash: 'h' }), audit('x'));
      for (const id of [7n, 8n]) await directory().createSession(aSession(id, 9n), 1n, 9, audit('x'));
      expect(await link(false)).toMatchObject({ identity, passwordHash: 'h', version: 2n });
      expect((await directory().listSessions(9n)).map(({ id }) => id)).toEqual([7n]);
      const taken = { identity: { ...identity, subject: 'b' }, confirmsAddress: false, keptSessionId: 7n };
      expect(await directory().linkIdentity(9n, taken, audit('x'))).toBe('identity_taken');
      expect(await directory().linkIdentity(2n, taken, audit('x'))).toBe('not_found');
    });

    it('confirm the address that the provider verified, and end the password that an owner may know', async () => {
      await directory().createPerson(aPerson(1n), audit('x'));
      await directory().putMembership(OWNER, audit('x'));
      await directory().createInvitation(anInvitation(3n, { invitedBy: 1n }), audit('x'));
      const newPerson = aPerson(9n, { passwordHash: 'h' });
      await directory().acceptInvitation('hash-3', { newPerson }, NOON_MS, audit('x'));
      expect(await link(false)).toMatchObject({ passwordHash: 'h', unconfirmedIn: 1n });
      expect(await link(true)).toMatchObject({ passwordHash: null, unconfirmedIn: null });
    });
  });
}
