import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { operatorServices, verbRunner } from '../../test/operator-services.ts';
import { enrol } from '../../test/people.ts';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { auditRow } from './actor.ts';
import { type OperatorServices, runVerb, type VerbInput, type VerbName } from './operator.ts';

let folder: string;
let store: Store;
let services: OperatorServices;
let ids: IdSource;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-races-'));
  await copyEmptyLedger(folder);
  const clock = new ManualClock(Date.UTC(2026, 5, 1));
  ids = new IdSource(clock, 1);
  store = await openSqliteStore({ folder, clock, threads: false });
  services = operatorServices({ store, clock, ids });
  await run('accounts.create', { name: 'ada' });
  await enrol({ store, ids }, 'grace@example.com');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  rmSync(folder, { recursive: true });
});

const run = verbRunner(() => services);

/** After this was read, and before the reader changes anything, somebody else does. */
function meanwhile(
  read: 'membershipsOf' | 'findPersonCap' | 'alertSettings',
  change: () => Promise<unknown>,
  times = 1,
): void {
  const { directory } = store;
  const original = directory[read].bind(directory) as (...args: never[]) => Promise<never>;
  let left = times;
  vi.spyOn(directory, read).mockImplementation((async (...args: never[]) => {
    const found = await original(...args);
    if (left-- > 0) await change();
    return found;
  }) as never);
}

const GRACE = { account: 'ada', person: 'grace@example.com' };
const rolesOfGrace = async () => (await run('people.show', { person: GRACE.person })).roles;
const lastChanges = async (action: string) => (await run('audit.list', { action, limit: 2 })).data;

test('a new cap does not give a role back that somebody else takes away at the same time', async () => {
  await run('members.put', { ...GRACE, role: 'owner' });
  meanwhile('membershipsOf', () => run('members.put', { ...GRACE, role: 'viewer' }));
  expect(await run('members.put', { ...GRACE, spend_cap_nanousd: 5 })).toMatchObject({ role: 'viewer' });
  expect(await rolesOfGrace()).toMatchObject([{ role: 'viewer', spend_cap_nanousd: 5n }]);
  const [cap, role] = await lastChanges('member.put');
  expect(role).toMatchObject({ before: { role: 'owner' }, after: { role: 'viewer' } });
  expect(cap).toMatchObject({ before: { role: 'viewer' }, after: { role: 'viewer', spend_cap_nanousd: 5 } });
});

test('a new role does not remove a cap that somebody else sets at the same time', async () => {
  await run('members.put', { ...GRACE, role: 'member' });
  meanwhile('membershipsOf', () => run('members.put', { ...GRACE, spend_cap_nanousd: 5, window: 'day' }));
  await run('members.put', { ...GRACE, role: 'owner' });
  expect(await rolesOfGrace()).toMatchObject([{ role: 'owner', spend_cap_nanousd: 5n, window: 'day' }]);
});

test('the audit names the cap that a change replaces, not one that somebody else replaced just before', async () => {
  await run('members.put', { ...GRACE, role: 'member', spend_cap_nanousd: 5 });
  meanwhile('membershipsOf', () => run('members.put', { ...GRACE, spend_cap_nanousd: 7 }));
  await run('members.put', { ...GRACE, spend_cap_nanousd: 9 });
  const [last, first] = await lastChanges('member.put');
  expect(first).toMatchObject({ before: { spend_cap_nanousd: 5 }, after: { spend_cap_nanousd: 7 } });
  expect(last).toMatchObject({ before: { spend_cap_nanousd: 7 }, after: { spend_cap_nanousd: 9 } });
});

test('a role for somebody who comes back at the same time replaces the one that they came back with', async () => {
  await run('members.put', { ...GRACE, role: 'member', spend_cap_nanousd: 5 });
  await run('members.remove', GRACE);
  meanwhile('findPersonCap', () => run('members.put', { ...GRACE, role: 'viewer', spend_cap_nanousd: 7 }));
  await run('members.put', { ...GRACE, role: 'owner' });
  expect(await rolesOfGrace()).toMatchObject([{ role: 'owner', spend_cap_nanousd: 7n }]);
  expect((await lastChanges('member.put'))[0]).toMatchObject({ before: { role: 'viewer' }, after: { role: 'owner' } });
});

test('somebody who is removed at the same time does not come back because their cap is changed', async () => {
  await run('members.put', { ...GRACE, role: 'owner' });
  meanwhile('membershipsOf', () => run('members.remove', GRACE));
  await expect(run('members.put', { ...GRACE, spend_cap_nanousd: 5 })).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await rolesOfGrace()).toEqual([]);
});

test('an update brings back nobody who was removed before or at the same time, and changes only what it names', async () => {
  await run('members.put', { ...GRACE, role: 'member', spend_cap_nanousd: 5 });
  expect(await run('members.update', { ...GRACE, role: 'owner' })).toMatchObject({
    role: 'owner',
    spend_cap_nanousd: 5n,
  });
  await expect(run('members.update', GRACE)).rejects.toThrow('Name at least one setting to change: role');
  meanwhile('membershipsOf', () => run('members.remove', GRACE));
  const nobody = { code: 'not_found', message: 'There is no person "grace@example.com" in this account.' };
  for (const role of ['viewer', 'owner'] as const)
    await expect(run('members.update', { ...GRACE, role })).rejects.toMatchObject(nobody);
  expect(await rolesOfGrace()).toEqual([]);
});

/** What grace does herself, with the role that she had when her request arrived. */
async function runAsGrace<Name extends VerbName>(name: Name, input: VerbInput<Name>): Promise<unknown> {
  const { id, email } = (await store.directory.findPersonByEmail(GRACE.person))!;
  return runVerb({ ...services, actor: { kind: 'person', id, name: email, address: null } }, name, input);
}

const NO_LONGER = { code: 'permission_denied', status: 403 };

test('an owner who loses the role while they change a member, or mint a management key, changes nothing', async () => {
  await run('members.put', { ...GRACE, role: 'owner' });
  meanwhile('membershipsOf', () => run('members.put', { ...GRACE, role: 'viewer' }));
  await expect(runAsGrace('members.put', { ...GRACE, role: 'owner', spend_cap_nanousd: 5 })).rejects.toMatchObject(
    NO_LONGER,
  );
  expect(await rolesOfGrace()).toMatchObject([{ role: 'viewer', spend_cap_nanousd: null }]);
  await expect(runAsGrace('members.remove', GRACE)).rejects.toMatchObject(NO_LONGER);
  const expires_at = Date.UTC(2026, 5, 2) / 1000;
  const key = { account: 'ada', role: 'owner', expires_at } as const;
  await expect(runAsGrace('managementkeys.mint', key)).rejects.toMatchObject(NO_LONGER);
  expect((await run('managementkeys.list', {})).data).toEqual([]);
});

test('an owner who becomes a member while they give their own key a permission changes nothing', async () => {
  await run('members.put', { ...GRACE, role: 'owner' });
  const { id: key } = await run('keys.mint', GRACE);
  meanwhile('membershipsOf', () => run('members.put', { ...GRACE, role: 'member' }));
  await expect(runAsGrace('keys.update', { key, allow: ['account_read'] })).rejects.toMatchObject(NO_LONGER);
  expect((await run('keys.show', { key })).permissions).toEqual(['calls']);
});

test('somebody who is no longer an operator can make nobody an operator, and can disable and enable nobody', async () => {
  await enrol({ store, ids }, 'alan@example.com');
  await run('people.update', { person: GRACE.person, operator: true });
  expect(await runAsGrace('people.update', { person: 'alan@example.com', name: 'Alan' })).toMatchObject({
    name: 'Alan',
  });
  await run('people.update', { person: GRACE.person, operator: false });
  const person = 'alan@example.com';
  await expect(runAsGrace('people.update', { person, operator: true })).rejects.toMatchObject(NO_LONGER);
  await expect(runAsGrace('people.disable', { person })).rejects.toMatchObject(NO_LONGER);
  await expect(runAsGrace('people.enable', { person })).rejects.toMatchObject(NO_LONGER);
  expect(await run('people.show', { person })).toMatchObject({ operator: false, status: 'active' });
});

test('a change of one alert setting keeps the other one, which somebody else changes at the same time', async () => {
  meanwhile('alertSettings', () => run('alerts.configure', { account: 'ada', cap_percent: 50 }));
  await run('alerts.configure', { account: 'ada', balance_below_nanousd: 7 });
  const settings = await run('alerts.settings', { account: 'ada' });
  expect(settings).toMatchObject({ balance_below_nanousd: 7n, cap_percent: 50 });
  expect((await lastChanges('alerts.change'))[0]).toMatchObject({ after: { balance_below_nanousd: 7 } });
});

test('a change that names nothing is refused, and one that changes nothing is not in the audit', async () => {
  await expect(run('alerts.configure', { account: 'ada' })).rejects.toThrow(
    'Name at least one setting to change: balance_below_nanousd or cap_percent.',
  );
  await run('members.put', { ...GRACE, role: 'member' });
  for (const cap_percent of [50, 50]) await run('alerts.configure', { account: 'ada', cap_percent });
  expect(await run('members.put', { ...GRACE, role: 'member' })).toMatchObject({ role: 'member' });
  expect(await run('members.put', GRACE)).toMatchObject({ role: 'member' });
  expect(await lastChanges('alerts.change')).toHaveLength(1);
  expect(await lastChanges('member.put')).toHaveLength(1);
});

test('gives up after some attempts if somebody keeps changing the same thing', async () => {
  await run('members.put', { ...GRACE, role: 'member' });
  const { accountId, personId } = (
    await store.directory.membershipsOf((await store.directory.findPersonByEmail(GRACE.person))!.id)
  )[0]!;
  let capNanousd = 100n;
  const flip = () =>
    store.directory.putMembership(
      { accountId, personId, role: 'member', capNanousd: ++capNanousd, capWindow: 'day' },
      auditRow(services, { action: 'member.put', subject: '' }),
    );
  meanwhile('membershipsOf', flip, 100);
  const put = run('members.put', { ...GRACE, role: 'owner' });
  await expect(put).rejects.toMatchObject({ code: 'version_conflict', status: 412 });
  expect(await rolesOfGrace()).toMatchObject([{ role: 'member' }]);
});
