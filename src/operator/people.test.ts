import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { operatorServices, verbRunner } from '../../test/operator-services.ts';
import { hashSecret, isManagementSecret } from '../accounts/keys.ts';
import { MANAGEMENT_KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import { ManualClock } from '../kit/clock.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { type OperatorServices, runVerb, type VerbResult } from './operator.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
let folder: string;
let store: Store;
let clock: ManualClock;
let services: OperatorServices;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-people-'));
  clock = new ManualClock(NOW_MS);
  await copyEmptyLedger(folder);
  store = await openSqliteStore({ folder, clock, threads: false });
  services = operatorServices({ store, clock });
  await run('accounts.create', { name: 'ada' });
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const run = verbRunner(() => services);

/** Somebody who has accepted an invitation. */
async function enrol(email: string): Promise<string> {
  const { secret } = await run('people.invite', { email });
  const newPerson = {
    id: services.ids.next(),
    email,
    name: email,
    passwordHash: 'hash',
    identity: null,
    isOperator: false,
    createdMs: NOW_MS,
  };
  const audit = { id: services.ids.next(), atMs: NOW_MS, actorKind: 'person', actorId: newPerson.id } as const;
  const rest = {
    actorName: email,
    action: 'invitation.accept',
    subject: '',
    accountId: null,
    before: null,
    after: null,
  };
  await store.directory.acceptInvitation(hashSecret(secret), { newPerson }, NOW_MS, {
    ...audit,
    ...rest,
    address: null,
  });
  return (await run('people.show', { person: email })).id;
}

async function audited(): Promise<string[]> {
  return (await run('audit.list', {})).data.map(({ action }) => action).reverse();
}

describe('a person', () => {
  test('is found by id and by address in any case, and changed in the version that was read', async () => {
    const id = await enrol('Ada@example.com');
    const { version } = await run('people.show', { person: 'ADA@EXAMPLE.COM' });
    expect(await run('people.update', { person: id, name: 'Ada L.', version })).toMatchObject({ name: 'Ada L.' });
    await expect(run('people.update', { person: id, name: 'x', version })).rejects.toMatchObject({ status: 412 });
    const [entry] = (await run('audit.list', { action: 'person.change' })).data;
    expect(entry).toMatchObject({ before: { name: 'Ada@example.com' }, after: { name: 'Ada L.' }, subject: id });
  });

  test('is disabled once, enabled again, and cannot be reset meanwhile', async () => {
    const person = await enrol('a@example.com');
    expect(await run('people.disable', { person })).toMatchObject({ status: 'disabled' });
    await run('people.disable', { person });
    await expect(run('people.reset', { person })).rejects.toMatchObject({
      hint: 'tollgate people enable a@example.com',
    });
    expect(await run('people.enable', { person })).toMatchObject({ status: 'active' });
    expect(await run('people.reset', { person })).toMatchObject({ resets_password: true, email: 'a@example.com' });
    expect((await audited()).filter((action) => action === 'person.disable')).toHaveLength(1);
  });

  test('who is not in an account is the same there as somebody who does not exist', async () => {
    await enrol('stranger@example.com');
    const told = async (name: 'keys.list' | 'keys.mint' | 'members.remove', person: string) =>
      run(name, { account: 'ada', person }).then(JSON.stringify, ({ code, message }) => `${code} ${message}`);
    for (const name of ['keys.list', 'keys.mint', 'members.remove'] as const) {
      const nobody = await told(name, 'nobody@example.com');
      expect(nobody).toBe('not_found There is no person "nobody@example.com" in this account.');
      expect((await told(name, 'stranger@example.com')).replace('stranger', 'nobody')).toBe(nobody);
    }
  });

  test('who has no role in an account gets no cap there, and the refusal names the command that gives a role', async () => {
    await enrol('bo@example.com');
    await expect(
      run('members.put', { account: 'ada', person: 'bo@example.com', spend_cap_nanousd: 5 }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('has no role in the account "ada"'),
      hint: 'tollgate people invite bo@example.com --account ada --role member',
    });
  });

  test('somebody who has no role in an account is not found in its audit by their address, and is called operator there', async () => {
    await enrol('stranger@example.com');
    const member = await enrol('member@example.com');
    await run('members.put', { account: 'ada', person: member, role: 'member' });
    const owner = { kind: 'person', id: parseId(PERSON_PREFIX, member), name: 'member@example.com', address: null };
    const asOwner = { ...services, actor: owner } as OperatorServices;
    const changesBy = (person: string) =>
      runVerb(asOwner, 'audit.list', { account: 'ada', person }) as Promise<VerbResult<'audit.list'>>;
    const refusals = await Promise.all(
      ['stranger@example.com', 'nobody@example.com'].map((person) =>
        changesBy(person).catch(({ code, message }) => ({ code, message: message.replace(person, 'X') })),
      ),
    );
    expect(refusals[0]).toEqual({
      code: 'not_found',
      message: 'There is no person or management key "X" in this account.',
    });
    expect(refusals[1]).toEqual(refusals[0]);
    expect((await changesBy('member@example.com')).data).toEqual([]);
    const stranger = await store.directory.findPersonByEmail('stranger@example.com');
    const asStranger = {
      ...services,
      actor: { kind: 'person', id: stranger!.id, name: stranger!.email, address: null },
    };
    await run('people.update', { person: 'stranger@example.com', operator: true });
    await runVerb(asStranger as OperatorServices, 'keys.mint', { account: 'ada' });
    await expect(changesBy('stranger@example.com')).rejects.toMatchObject({ code: 'not_found' });
    const actor = formatId(PERSON_PREFIX, stranger!.id);
    const seen = await runVerb(asOwner, 'audit.list', { account: 'ada', actor });
    expect(seen).toMatchObject({ data: [{ actor: { id: actor, name: 'operator' }, address: null }] });
    expect((await run('audit.list', { account: 'ada', person: 'stranger@example.com' })).data).toMatchObject([
      { action: 'key.mint', actor: { id: actor, name: 'stranger@example.com' } },
    ]);
    expect((await run('audit.list', { person: 'member@example.com' })).data).toMatchObject([
      { action: 'invitation.accept' },
    ]);
    const both = run('audit.list', { actor: member, person: 'stranger@example.com' });
    await expect(both).rejects.toThrow('Name only one of them');
  });

  test('who has left an account without changing it has an empty audit there, for operators', async () => {
    const left = await enrol('left@example.com');
    const minted = await run('managementkeys.mint', { name: 'ci', expires_at: NOW_MS / 1000 + 3600 });
    const operatorKey = { kind: 'management_key', id: parseId(MANAGEMENT_KEY_PREFIX, minted.id), name: 'ci' } as const;
    await run('people.update', { person: await enrol('operator@example.com'), operator: true });
    const operator = await store.directory.findPersonByEmail('operator@example.com');
    await run('members.put', { account: 'ada', person: left, role: 'member' });
    await run('members.remove', { account: 'ada', person: left });
    const changes = { account: 'ada', person: 'left@example.com' };
    const person = { kind: 'person', id: operator!.id, name: operator!.email } as const;
    for (const actor of [services.actor, { ...person, address: null }, { ...operatorKey, address: null }])
      expect(await runVerb({ ...services, actor }, 'audit.list', changes)).toMatchObject({ data: [] });
    const nobody = run('audit.list', { account: 'ada', person: 'nobody@example.com' });
    await expect(nobody).rejects.toMatchObject({ code: 'not_found' });
  });

  test('who has left an account still has keys there, which can be listed', async () => {
    await enrol('left@example.com');
    await run('members.put', { account: 'ada', person: 'left@example.com', role: 'member' });
    const { id } = await run('keys.mint', { account: 'ada', person: 'left@example.com' });
    await run('members.remove', { account: 'ada', person: 'left@example.com' });
    const { data } = await run('keys.list', { account: 'ada', person: 'left@example.com' });
    expect(data.map((key) => key.id)).toEqual([id]);
  });

  test('gets, changes and loses a role in an account', async () => {
    const person = await enrol('a@example.com');
    const member = { account: 'ada', person, role: 'member' } as const;
    await run('members.put', member);
    await run('members.put', { ...member, spend_cap_nanousd: 5_000_000_000, window: 'month' });
    expect((await run('members.list', { account: 'ada' })).data).toMatchObject([
      { email: 'a@example.com', role: 'member', spend_cap_nanousd: 5_000_000_000n, window: 'month' },
    ]);
    expect((await run('people.show', { person })).roles).toHaveLength(1);
    const { id: account } = await run('accounts.show', { account: 'ada' });
    expect(await run('members.remove', { account: 'ada', person })).toMatchObject({ account, status: 'removed' });
    await expect(run('members.remove', { account: 'ada', person })).rejects.toMatchObject({ code: 'not_found' });
  });
});

test.each(['a\0b@example.com', 'a\u202eb@example.com', 'a\ud800b@example.com', 'a b@example.com', 'a@b@c'])(
  'an invitation to %j is refused',
  async (email) => {
    await expect(run('people.invite', { email })).rejects.toThrow('email must be an email address');
  },
);

test('a list of management keys looks up each minter once, however many keys they minted', async () => {
  await enrol('owner@example.com');
  await run('members.put', { account: 'ada', person: 'owner@example.com', role: 'owner' });
  const { id } = (await store.directory.findPersonByEmail('owner@example.com'))!;
  const looked = vi.spyOn(store.directory, 'findPersonCap');
  const asOwner: OperatorServices = {
    ...services,
    actor: { kind: 'person', id, name: 'owner@example.com', address: null },
  };
  const terms = { account: 'ada', role: 'owner', expires_at: NOW_MS / 1000 + 3600 };
  for (let at = 0; at < 3; at++) await runVerb(asOwner, 'managementkeys.mint', terms);
  const { data } = (await runVerb(asOwner, 'managementkeys.list', {
    account: 'ada',
  })) as VerbResult<'managementkeys.list'>;
  expect(data.map(({ minted_by_name }) => minted_by_name)).toEqual(Array(3).fill('owner@example.com'));
  expect(looked).toHaveBeenCalledTimes(1);
});

test('an owner reads the address of whoever had a role in the account, and of no operator', async () => {
  const [owner, left, operator] = ['owner@example.com', 'left@example.com', 'operator@example.com'];
  for (const person of [owner, left, operator]) await enrol(person);
  for (const person of [owner, left]) await run('members.put', { account: 'ada', person, role: 'owner' });
  await run('people.update', { person: operator, operator: true });
  const as = async (email: string): Promise<OperatorServices> => {
    const { id } = (await store.directory.findPersonByEmail(email))!;
    return { ...services, actor: { kind: 'person', id, name: email, address: '203.0.113.7' } };
  };
  const terms = { account: 'ada', role: 'owner', expires_at: NOW_MS / 1000 + 3600 };
  for (const minter of [owner, left, operator]) await runVerb(await as(minter), 'managementkeys.mint', terms);
  await run('managementkeys.mint', { ...terms, role: 'owner' });
  await run('members.remove', { account: 'ada', person: left });
  const read = async (email: string): Promise<unknown> => {
    const { data: keys } = (await runVerb(await as(email), 'managementkeys.list', {
      account: 'ada',
    })) as VerbResult<'managementkeys.list'>;
    const { data: changes } = (await runVerb(await as(email), 'audit.list', {
      account: 'ada',
      action: 'management_key.mint',
    })) as VerbResult<'audit.list'>;
    expect(JSON.stringify(changes.map(({ after }) => after))).not.toContain('@example.com');
    return [
      keys.map(({ minted_by_name }) => minted_by_name),
      changes.map(({ actor, address }) => [actor.name, address]).reverse(),
    ];
  };
  const user = services.actor.name;
  const at = '203.0.113.7';
  expect(await read(owner)).toEqual([
    [owner, left, 'operator', null],
    [
      [owner, at],
      [left, at],
      ['operator', null],
      ['operator', null],
    ],
  ]);
  expect(await read(operator)).toEqual([
    [owner, left, operator, null],
    [
      [owner, at],
      [left, at],
      [operator, at],
      [user, null],
    ],
  ]);
});

test('an owner does not read the address, or the name on the machine, of the operator who has seen an alert', async () => {
  const { id: accountId } = await run('accounts.show', { account: 'ada' });
  await enrol('owner@example.com');
  await run('members.put', { account: 'ada', person: 'owner@example.com', role: 'owner' });
  await run('people.update', { person: await enrol('operator@example.com'), operator: true });
  const as = async (email: string): Promise<OperatorServices> => {
    const { id } = (await store.directory.findPersonByEmail(email))!;
    return { ...services, actor: { kind: 'person', id, name: email, address: null } };
  };
  const acknowledge = async (condition: string, who: OperatorServices): Promise<void> => {
    const id = services.ids.next();
    const about = { kind: 'balance', accountId: parseId('acct_', accountId), subject: accountId } as const;
    await store.directory.raiseAlert({ id, condition, ...about, message: '', dataJson: '{}', createdMs: NOW_MS }, 0);
    await runVerb(who, 'alerts.acknowledge', { alert: formatId('alert_', id) });
  };
  for (const email of ['owner@example.com', 'operator@example.com']) await acknowledge(email, await as(email));
  await acknowledge('a command', services);
  const terms = { account: 'ada', role: 'owner', name: 'robot', expires_at: NOW_MS / 1000 + 3600 } as const;
  const { id } = await run('managementkeys.mint', terms);
  const robot = { id: parseId(MANAGEMENT_KEY_PREFIX, id), name: terms.name, address: null, mintedBy: null };
  await acknowledge('a key of the account', { ...services, actor: { kind: 'management_key', ...robot } });
  const seen = async (email: string): Promise<unknown> => {
    const { data } = (await runVerb(await as(email), 'alerts.list', { account: 'ada' })) as VerbResult<'alerts.list'>;
    return data.map(({ acknowledged_by }) => acknowledged_by);
  };
  const user = services.actor.name;
  expect(await seen('owner@example.com')).toEqual(['robot', 'operator', 'operator', 'owner@example.com']);
  expect(await seen('operator@example.com')).toEqual(['robot', user, 'operator@example.com', 'owner@example.com']);
});

test('an owner gives a role by id only to whoever had one before, and learns no address of an operator', async () => {
  const ids = new Map<string, string>();
  for (const person of ['owner@example.com', 'left@example.com', 'operator@example.com']) {
    await enrol(person);
    ids.set(person, formatId(PERSON_PREFIX, (await store.directory.findPersonByEmail(person))!.id));
  }
  for (const person of ['owner@example.com', 'left@example.com'])
    await run('members.put', { account: 'ada', person, role: 'owner' });
  await run('members.remove', { account: 'ada', person: 'left@example.com' });
  await run('people.update', { person: 'operator@example.com', operator: true });
  const { id } = (await store.directory.findPersonByEmail('owner@example.com'))!;
  const actor = { kind: 'person', id, name: 'owner@example.com', address: null } as const;
  const put = (person: string, role?: 'viewer') =>
    runVerb({ ...services, actor }, 'members.put', { account: 'ada', person, ...(role && { role }) });
  const operator = ids.get('operator@example.com')!;
  for (const role of [undefined, 'viewer'] as const) {
    const refused: unknown = await put(operator, role).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'not_found', message: `There is no person "${operator}".` });
  }
  expect(await put(ids.get('left@example.com')!, 'viewer')).toMatchObject({ role: 'viewer' });
  expect(await put('operator@example.com', 'viewer')).toMatchObject({ role: 'viewer' });
});

describe('a management key', () => {
  test('is shown once, and bound to an account or to the whole gateway', async () => {
    const expires_at = NOW_MS / 1000 + 3600;
    const minted = await run('managementkeys.mint', { name: 'ci', expires_at, read_only: true });
    expect(isManagementSecret(minted.secret)).toBe(true);
    const [listed] = (await run('managementkeys.list', {})).data;
    expect(listed).toMatchObject({ id: minted.id, role: 'operator', read_only: true, status: 'active' });
    expect(JSON.stringify(listed)).not.toContain(minted.secret);
    expect(await run('managementkeys.revoke', { management_key: minted.id })).toMatchObject({ status: 'revoked' });
  });

  test.each([
    [{ expires_at: NOW_MS / 1000 }, 'expires_at must be in the future, within 366 days.'],
    [{ expires_at: NOW_MS / 1000 + 367 * 86_400 }, 'expires_at must be in the future, within 366 days.'],
    [{ expires_at: NOW_MS / 1000 + 60, account: 'ada' }, /name account and role together/],
    [{ expires_at: NOW_MS / 1000 + 60, role: 'owner' }, /name account and role together/],
    [{ expires_at: NOW_MS / 1000 + 60, account: 'ada', role: 'member' }, /^role .*operator.*owner.*viewer/],
  ])('with %j is refused', async (input, message) => {
    await expect(run('managementkeys.mint', input as never)).rejects.toThrow(message);
  });
});

test('every change of accounts and keys is in the audit with what changed, and nothing else', async () => {
  const { id } = await run('keys.mint', { account: 'ada', name: 'ci' });
  await run('keys.update', { key: id, spend_cap_nanousd: 5, allow: ['account_read'] });
  await run('keys.revoke', { key: id });
  await run('keys.revoke', { key: id });
  expect(await audited()).toEqual(['account.create', 'key.mint', 'key.change', 'key.revoke']);
  const [change] = (await run('audit.list', { action: 'key.change' })).data;
  expect(change).toMatchObject({
    actor: { kind: 'command_line', name: 'root' },
    before: { spend_cap_nanousd: null, permissions: ['calls'] },
    after: { spend_cap_nanousd: 5, permissions: ['calls', 'account_read'] },
  });
  expect(Object.keys(change!.after as object)).toHaveLength(2);
});

test('the error about an invalid id names its member', async () => {
  await expect(run('refusals.list', { request: 'last one' })).rejects.toThrow('request must be an id, like req_….');
  await expect(run('refusals.list', { after: 'last one' })).rejects.toThrow('after must be an id, like req_….');
});
