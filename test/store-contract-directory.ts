import { describe, expect, it } from 'vitest';
import type { Directory } from '../src/store/directory.ts';
import type { AccountRole, KnownMembership, NewPerson } from '../src/store/people.ts';
import { aManagementKey, anInvitation, aPerson, aSession, audit } from './people-fixtures.ts';
import { aKey, anAccount, FIRST_PAGE, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

const DAY_MS = 86_400_000;

/** People and what belongs to them, the same on both engines. */
export function directoryContract(name: string, open: OpenStore): void {
  describe(`directory contract: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;
    const actions = async (): Promise<string[]> => {
      const none = { accountId: null, actorId: null, action: null, subject: null, sinceMs: null, untilMs: null };
      const rows = await directory().listAudit(none, { before: null, limit: 100 });
      return rows.map(({ action }) => action).reverse();
    };

    describe('a person', () => {
      it('is found by id, by address in any case, and by identity, with everything that was stored', async () => {
        const identity = { issuer: 'https://id.example', subject: 'abc' };
        const person = aPerson(5n, { passwordHash: 'a$hash', identity, isOperator: true });
        expect(await directory().createPerson(person, audit('person.create'))).toBe('created');
        const stored = { ...person, disabledMs: null, unconfirmedIn: null, version: 1n };
        expect(await directory().findPerson(5n)).toEqual(stored);
        expect(await directory().findPersonByEmail('PERSON5@EXAMPLE.COM')).toEqual(stored);
        expect(await directory().findPersonByIdentity(identity)).toEqual(stored);
        expect(await directory().findPersonByIdentity({ ...identity, subject: 'abd' })).toBeNull();
      });

      it('has an address of its own: a second one with it is refused, and leaves no row in the audit', async () => {
        await directory().createPerson(aPerson(1n, { email: 'a@example.com' }), audit('person.create'));
        const twin = aPerson(2n, { email: 'A@Example.com' });
        expect(await directory().createPerson(twin, audit('person.create'))).toBe('email_taken');
        expect(await actions()).toEqual(['person.create']);
      });

      it('changes only what is named, and only in the version that was read', async () => {
        await directory().createPerson(aPerson(1n), audit('person.create'));
        const changed = await directory().changePerson(1n, { name: 'New' }, 1n, audit('person.change'));
        expect(changed).toMatchObject({ name: 'New', email: 'Person1@Example.com', version: 2n });
        expect(await directory().changePerson(1n, { name: 'Old' }, 1n, audit('person.change'))).toBe(
          'version_conflict',
        );
        expect(await directory().changePerson(9n, { name: 'Old' }, null, audit('person.change'))).toBe('not_found');
        expect(await actions()).toEqual(['person.create', 'person.change']);
      });

      it('cannot take the identity of another', async () => {
        const identity = { issuer: 'https://id.example', subject: 'abc' };
        await directory().createPerson(aPerson(1n, { identity }), audit('person.create'));
        await directory().createPerson(aPerson(2n), audit('person.create'));
        expect(await directory().changePerson(2n, { identity }, null, audit('person.change'))).toBe('identity_taken');
      });

      it('loses sessions and management keys when disabled, once', async () => {
        await directory().createPerson(aPerson(1n), audit('person.create'));
        await directory().createSession(aSession(7n, 1n), 1n, 9, audit('session.begin'));
        await directory().createManagementKey(aManagementKey(8n, { mintedBy: 1n }), audit('management_key.mint'));
        expect(await directory().disablePerson(1n, NOON_MS, audit('person.disable'))).toMatchObject({
          disabledMs: NOON_MS,
          version: 2n,
        });
        expect(await directory().findSession('session-7')).toBeNull();
        expect(await directory().findManagementKeyByHash('management-8')).toMatchObject({ revokedMs: NOON_MS });
        await directory().disablePerson(1n, NOON_MS + 1, audit('person.disable'));
        expect((await actions()).filter((action) => action === 'person.disable')).toHaveLength(1);
        expect(await directory().enablePerson(1n, audit('person.enable'))).toMatchObject({ disabledMs: null });
        expect(await directory().disablePerson(9n, NOON_MS, audit('person.disable'))).toBe('not_found');
      });

      it('is listed in order, page by page', async () => {
        for (const id of [1n, 2n, 3n]) await directory().createPerson(aPerson(id), audit('person.create'));
        const first = await directory().listPeople({ after: null, limit: 2 });
        expect(first.map(({ id }) => id)).toEqual([1n, 2n]);
        expect((await directory().listPeople({ after: 2n, limit: 2 })).map(({ id }) => id)).toEqual([3n]);
      });
    });

    describe('a membership', () => {
      it('is stored, replaced and removed, and needs a person and an account', async () => {
        await directory().createPerson(aPerson(1n), audit('person.create'));
        const membership = { accountId: 1n, personId: 1n, role: 'member', capNanousd: 5n, capWindow: 'day' } as const;
        expect(await directory().putMembership(membership, audit('member.put'))).toBe('stored');
        expect(await directory().membershipsOf(1n)).toEqual([membership]);
        const owner = { ...membership, role: 'owner', capNanousd: null } as const;
        expect(await directory().putMembership(owner, audit('member.put'))).toBe('stored');
        expect((await directory().listMembers(1n, FIRST_PAGE, NOON_MS)).map((each) => each.membership)).toEqual([
          owner,
        ]);
        expect(await directory().putMembership({ ...owner, personId: 9n }, audit('member.put'))).toBe('no_person');
        expect(await directory().putMembership({ ...owner, accountId: 9n }, audit('member.put'))).toBe('no_account');
        expect(await directory().removeMembership(1n, 1n, audit('member.remove'))).toBe(true);
        expect(await directory().removeMembership(1n, 1n, audit('member.remove'))).toBe(false);
      });

      it('is replaced only if role and cap are still those that are known', async () => {
        await directory().createPerson(aPerson(1n), audit('person.create'));
        const cap = { capNanousd: 5n, capWindow: 'day' } as const;
        const member = { accountId: 1n, personId: 1n, role: 'member', ...cap } as const;
        const put = (role: AccountRole, known: KnownMembership) =>
          directory().putMembership({ ...member, role }, audit('member.put'), known);
        expect(await put('member', { role: 'member', cap: null })).toBe('changed');
        expect(await put('member', { role: null, cap })).toBe('changed');
        expect(await directory().membershipsOf(1n)).toEqual([]);
        expect(await put('member', { role: null, cap: null })).toBe('stored');
        for (const known of [
          { role: null, cap },
          { role: 'viewer', cap },
          { role: 'member', cap: null },
          { role: 'member', cap: { ...cap, capNanousd: null } },
          { role: 'member', cap: { ...cap, capNanousd: 6n } },
          { role: 'member', cap: { ...cap, capWindow: 'month' } },
        ] as const)
          expect(await put('owner', known)).toBe('changed');
        expect(await directory().membershipsOf(1n)).toEqual([member]);
        expect(await put('owner', { role: 'member', cap })).toBe('stored');
        expect(await directory().removeMembership(1n, 1n, audit('member.remove'))).toBe(true);
        expect(await put('viewer', { role: 'owner', cap })).toBe('changed');
        expect(await put('viewer', { role: null, cap })).toBe('stored');
        expect(await directory().membershipsOf(1n)).toEqual([{ ...member, role: 'viewer' }]);
        const filter = { accountId: null, actorId: null, subject: null, sinceMs: null, untilMs: null };
        const rows = await directory().listAudit({ ...filter, action: 'member.put' }, { before: null, limit: 9 });
        expect(rows).toHaveLength(3);
      });
    });

    describe('an invitation', () => {
      it('makes a new person with its roles and its own address, once', async () => {
        await directory().createInvitation(anInvitation(3n), audit('invitation.create'));
        const who = { newPerson: aPerson(4n, { email: 'attacker@example.com', passwordHash: 'h' }) };
        const accept = () => directory().acceptInvitation('hash-3', who, NOON_MS, audit('invitation.accept'));
        expect(await accept()).toMatchObject({
          id: 4n,
          email: 'new@example.com',
          passwordHash: 'h',
          isOperator: false,
        });
        expect(await directory().membershipsOf(4n)).toMatchObject([{ accountId: 1n, role: 'member' }]);
        expect(await accept()).toBe('not_open');
      });

      it.each([
        ['expired', anInvitation(3n, { expiresMs: NOON_MS })],
        ['unknown', anInvitation(3n, { sha256Hex: 'other' })],
      ])('gives nothing when it is %s', async (_why, invitation) => {
        await directory().createInvitation(invitation, audit('invitation.create'));
        const accepted = directory().acceptInvitation('hash-3', { newPerson: aPerson(4n) }, NOON_MS, audit('x'));
        expect(await accepted).toBe('not_open');
        expect(await directory().findPerson(4n)).toBeNull();
      });

      it('for an address that has a person is accepted by that person alone', async () => {
        await directory().createPerson(aPerson(1n, { email: 'New@example.com', passwordHash: 'old' }), audit('x'));
        await directory().createPerson(aPerson(2n), audit('x'));
        await directory().createInvitation(anInvitation(3n, { isOperator: true }), audit('x'));
        const accept = (who: { newPerson: NewPerson } | { personId: bigint }) =>
          directory().acceptInvitation('hash-3', who, NOON_MS, audit('invitation.accept'));
        expect(await accept({ newPerson: aPerson(4n, { passwordHash: 'mine' }) })).toBe('person_exists');
        expect(await accept({ personId: 2n })).toBe('other_person');
        expect(await accept({ personId: 1n })).toMatchObject({ id: 1n, isOperator: true, passwordHash: 'old' });
      });

      it('leaves the cap of somebody who is a member already', async () => {
        await directory().createPerson(aPerson(1n, { email: 'new@example.com' }), audit('x'));
        const membership = { accountId: 1n, personId: 1n, role: 'member', capNanousd: 5n, capWindow: 'day' } as const;
        await directory().putMembership(membership, audit('x'));
        await directory().createInvitation(anInvitation(3n, { role: 'owner' }), audit('x'));
        await directory().acceptInvitation('hash-3', { personId: 1n }, NOON_MS, audit('x'));
        expect(await directory().membershipsOf(1n)).toEqual([{ ...membership, role: 'owner' }]);
      });

      it('that resets a password sets it once, ends the sessions, and gives no roles', async () => {
        await directory().createPerson(aPerson(1n, { passwordHash: 'old' }), audit('x'));
        await directory().createSession(aSession(7n, 1n), 1n, 9, audit('x'));
        await directory().createInvitation(anInvitation(3n, { resetsPersonId: 1n }), audit('x'));
        const accepted = directory().acceptInvitation('hash-3', { personId: 1n }, NOON_MS, audit('x'));
        expect(await accepted).toBe('not_open');
        const reset = () => directory().resetPassword('hash-3', 'new', NOON_MS, audit('person.reset'));
        expect(await reset()).toMatchObject({ passwordHash: 'new', isOperator: false });
        expect([await reset(), await directory().findSession('session-7')]).toEqual(['not_open', null]);
        expect(await directory().membershipsOf(1n)).toEqual([]);
        await directory().createInvitation(anInvitation(4n, { sha256Hex: 'hash-4' }), audit('x'));
        expect(await directory().resetPassword('hash-4', 'new', NOON_MS, audit('x'))).toBe('not_open');
      });

      it.each([
        ['a role', { accountId: 1n, role: 'member' }],
        ['a new password', { resetsPersonId: 2n }],
      ] as const)('gives %s only while its maker may give it', async (_what, terms) => {
        await directory().createPerson(aPerson(1n, { isOperator: true }), audit('x'));
        await directory().createPerson(aPerson(2n), audit('x'));
        await directory().createInvitation(anInvitation(3n, { invitedBy: 1n, ...terms }), audit('x'));
        const give = () =>
          'resetsPersonId' in terms
            ? directory().resetPassword('hash-3', 'new', NOON_MS, audit('x'))
            : directory().acceptInvitation('hash-3', { newPerson: aPerson(4n) }, NOON_MS, audit('x'));
        await directory().changePerson(1n, { isOperator: false }, null, audit('x'));
        expect(await give()).toBe('not_open');
        await directory().changePerson(1n, { isOperator: true }, null, audit('x'));
        expect(await give()).toMatchObject({ disabledMs: null });
      });

      it('sets no password for a person who is disabled', async () => {
        await directory().createPerson(aPerson(2n), audit('x'));
        await directory().createInvitation(anInvitation(3n, { resetsPersonId: 2n }), audit('x'));
        await directory().disablePerson(2n, NOON_MS, audit('x'));
        expect(await directory().resetPassword('hash-3', 'new', NOON_MS, audit('x'))).toBe('not_open');
      });

      it('is accepted by one of many at once', async () => {
        await directory().createInvitation(anInvitation(3n), audit('x'));
        const results = await Promise.all(
          [11n, 12n, 13n, 14n].map((id) =>
            directory().acceptInvitation('hash-3', { newPerson: aPerson(id) }, NOON_MS, audit('invitation.accept')),
          ),
        );
        expect(results.filter((result) => typeof result === 'object')).toHaveLength(1);
        expect((await directory().listPeople(FIRST_PAGE)).length).toBe(1);
      });

      it('is found by address while it is open, and not after it was revoked', async () => {
        await directory().createInvitation(anInvitation(3n, { email: 'New@Example.com' }), audit('x'));
        expect(await directory().invitationsFor('NEW@example.com', NOON_MS)).toHaveLength(1);
        expect(await directory().revokeInvitation(3n, NOON_MS, audit('invitation.revoke'))).toBe(true);
        expect(await directory().revokeInvitation(3n, NOON_MS, audit('invitation.revoke'))).toBe(false);
        expect(await directory().invitationsFor('new@example.com', NOON_MS)).toEqual([]);
        expect(await directory().listInvitations(null, FIRST_PAGE)).toMatchObject([{ revokedMs: NOON_MS }]);
        expect(await directory().listInvitations(7n, FIRST_PAGE)).toEqual([]);
        expect(await directory().findInvitationById(3n)).toMatchObject({ email: 'New@Example.com' });
      });
    });

    describe('a session', () => {
      it('is found with its person, touched, and ended by its own person only', async () => {
        await directory().createPerson(aPerson(1n), audit('x'));
        await directory().createSession(aSession(7n, 1n), 1n, 9, audit('session.begin'));
        await directory().touchSession(7n, NOON_MS + 5);
        await directory().touchSession(7n, NOON_MS + 3);
        const found = await directory().findSession('session-7');
        expect(found).toMatchObject({ session: { usedMs: NOON_MS + 5, address: '192.0.2.1' }, person: { id: 1n } });
        expect(await directory().endSession(7n, 2n, audit('session.end'))).toBe(false);
        expect(await directory().endSession(7n, 1n, audit('session.end'))).toBe(true);
        expect(await directory().listSessions(1n)).toEqual([]);
      });

      it('is made for the person as they were read, and ends the oldest of too many', async () => {
        await directory().createPerson(aPerson(1n), audit('x'));
        const create = (id: bigint, version = 1n) =>
          directory().createSession(aSession(id, 1n), version, 2, audit('x'));
        expect([await create(7n), await create(8n), await create(9n)]).toEqual(['created', 'created', 'created']);
        expect((await directory().listSessions(1n)).map(({ id }) => id)).toEqual([8n, 9n]);
        expect(await create(10n, 2n)).toBe('person_changed');
        await directory().disablePerson(1n, NOON_MS, audit('x'));
        expect(await create(11n, 2n)).toBe('person_changed');
        expect(await directory().listSessions(1n)).toEqual([]);
      });

      it('stays when its own person sets a new password, and the others of the person end', async () => {
        await directory().createPerson(aPerson(1n, { passwordHash: 'old' }), audit('x'));
        for (const id of [7n, 8n]) await directory().createSession(aSession(id, 1n), 1n, 9, audit('x'));
        const set = (expectedVersion: bigint) =>
          directory().setPassword(1n, { passwordHash: 'new', expectedVersion, keptSessionId: 8n }, audit('x'));
        expect([await set(2n), await set(1n), await set(1n)]).toEqual(['person_changed', 'changed', 'person_changed']);
        expect((await directory().listSessions(1n)).map(({ id }) => id)).toEqual([8n]);
        expect(await directory().findPerson(1n)).toMatchObject({ passwordHash: 'new', version: 2n });
      });

      it('is swept when it has expired or was idle, and all of a person end together', async () => {
        await directory().createPerson(aPerson(1n), audit('x'));
        for (const id of [1n, 2n, 3n]) {
          await directory().createSession(
            aSession(id, 1n, { expiresMs: NOON_MS + Number(id) * DAY_MS }),
            1n,
            9,
            audit('x'),
          );
        }
        await directory().touchSession(3n, NOON_MS + DAY_MS);
        expect(await directory().sweepSessions(NOON_MS + DAY_MS, DAY_MS)).toBe(2);
        expect((await directory().listSessions(1n)).map(({ id }) => id)).toEqual([3n]);
        expect(await directory().endSessionsOf(1n, audit('session.end_all'))).toBe(1);
        expect(await directory().endSessionsOf(1n, audit('session.end_all'))).toBe(0);
      });
    });

    it('keeps management keys with their bounds, and revokes each once', async () => {
      const key = aManagementKey(8n, { accountId: 1n, role: 'owner', isReadOnly: true, expiresMs: NOON_MS + 1 });
      await directory().createManagementKey(key, audit('management_key.mint'));
      await directory().createManagementKey(aManagementKey(9n), audit('management_key.mint'));
      const stored = { ...key, revokedMs: null, usedMs: null };
      expect(await directory().findManagementKeyByHash('management-8')).toEqual(stored);
      expect(await directory().listManagementKeys(1n, FIRST_PAGE)).toEqual([stored]);
      expect(await directory().listManagementKeys(null, FIRST_PAGE)).toHaveLength(2);
      await directory().touchManagementKey(8n, NOON_MS + 9);
      await directory().revokeManagementKey(8n, NOON_MS + 1, audit('management_key.revoke'));
      expect(await directory().revokeManagementKey(8n, NOON_MS + 2, audit('x'))).toMatchObject({
        revokedMs: NOON_MS + 1,
        usedMs: NOON_MS + 9,
      });
      expect(await directory().revokeManagementKey(77n, NOON_MS, audit('x'))).toBe('not_found');
    });

    it('revokes management keys when the person who minted them may give them no longer', async () => {
      const membership = {
        accountId: 1n,
        personId: 1n,
        role: 'owner',
        capNanousd: null,
        capWindow: 'lifetime',
      } as const;
      await directory().createPerson(aPerson(1n, { isOperator: true }), audit('x'));
      await directory().putMembership(membership, audit('x'));
      const ofAccount = { accountId: 1n, role: 'viewer', mintedBy: 1n } as const;
      await directory().createManagementKey(aManagementKey(7n, { mintedBy: 1n }), audit('x'));
      await directory().createManagementKey(aManagementKey(8n, ofAccount), audit('x'));
      await directory().createManagementKey(aManagementKey(9n, { ...ofAccount, mintedBy: null }), audit('x'));
      const revoked = async () =>
        (await directory().listManagementKeys(null, FIRST_PAGE))
          .filter((key) => key.revokedMs !== null)
          .map(({ id }) => id);
      await directory().changePerson(1n, { isOperator: false }, null, audit('x'));
      expect(await revoked()).toEqual([7n]);
      await directory().putMembership({ ...membership, role: 'member' }, audit('x'));
      expect(await revoked()).toEqual([7n, 8n]);
    });

    it('keeps the audit newest first, filtered by account, actor, action, subject and time', async () => {
      await directory().createPerson(aPerson(1n), audit('a', { accountId: 1n, actorId: 5n, actorKind: 'person' }));
      await directory().createPerson(aPerson(2n), audit('b', { subject: 'person_2', atMs: NOON_MS + 10 }));
      const all = { accountId: null, actorId: null, action: null, subject: null, sinceMs: null, untilMs: null };
      const found = async (over: object): Promise<string[]> =>
        (await directory().listAudit({ ...all, ...over }, { before: null, limit: 10 })).map(({ action }) => action);
      expect(await found({})).toEqual(['b', 'a']);
      expect(await found({ accountId: 1n })).toEqual(['a']);
      expect(await found({ actorId: 5n })).toEqual(['a']);
      expect(await found({ action: 'b' })).toEqual(['b']);
      expect(await found({ subject: 'person_2' })).toEqual(['b']);
      expect(await found({ sinceMs: NOON_MS + 1 })).toEqual(['b']);
      expect(await found({ untilMs: NOON_MS + 1 })).toEqual(['a']);
      const [newest] = await directory().listAudit(all, { before: null, limit: 1 });
      expect(await directory().listAudit(all, { before: newest!.id, limit: 5 })).toMatchObject([{ action: 'a' }]);
      expect(await directory().forgetAudit(NOON_MS + 1, 10)).toBe(1);
      expect(await found({})).toEqual(['b']);
    });

    it('has the row of an account or key that was made or changed, and none of one that was not', async () => {
      const { store } = subject;
      await store.createAccount(anAccount(50n), audit('account.create'));
      await store.createAccount(anAccount(51n, { name: 'account-50' }), audit('account.create'));
      await store.createKey(aKey(60n, 50n), audit('key.mint'));
      await store.createKey(aKey(61n, 99n), audit('key.mint'));
      await store.updateKey(60n, { name: 'new' }, audit('key.change'));
      await store.updateKey(99n, { name: 'new' }, audit('key.change'));
      expect(await actions()).toEqual(['account.create', 'key.mint', 'key.change']);
    });

    it('keeps the highest factor of each account’s overruns, by model, until they are forgotten', async () => {
      const note = (model: string, accountId: bigint, factor: number) =>
        directory().noteTokenOverrun({ model, accountId, factor, notedMs: NOON_MS });
      for (const id of [50n, 51n]) await subject.store.createAccount(anAccount(id));
      for (const factor of [1.5, 2.25, 1.75]) await note('ferry', 50n, factor);
      await note('ferry', 51n, 3);
      await note('raft', 50n, 2);
      const rows = (await directory().listTokenOverruns()).map(({ model, accountId, factor }) => [
        model,
        accountId,
        factor,
      ]);
      expect(rows).toEqual([
        ['ferry', 51n, 3],
        ['ferry', 50n, 2.25],
        ['raft', 50n, 2],
      ]);
      expect(await directory().forgetTokenOverruns('ferry', audit('model.reset_factor'))).toBe(2);
      expect(await directory().forgetTokenOverruns('ferry', audit('model.reset_factor'))).toBe(0);
      expect(await directory().listTokenOverruns()).toMatchObject([{ model: 'raft' }]);
      expect(await actions()).toEqual(['model.reset_factor']);
    });

    it('writes nothing of a change whose row in the audit cannot be written', async () => {
      const row = audit('person.create');
      await directory().createPerson(aPerson(1n), row);
      await expect(directory().createPerson(aPerson(2n), row)).rejects.toThrow();
      expect(await directory().findPerson(2n)).toBeNull();
    });
  });
}
