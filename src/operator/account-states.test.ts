import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { aGroup, aJob, aReserve } from '../../test/job-fixtures.ts';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { operatorServices, verbRunner } from '../../test/operator-services.ts';
import { until } from '../../test/until.ts';
import { ensureLocalAccount } from '../accounts/accounts.ts';
import { ManualClock } from '../kit/clock.ts';
import { parseId } from '../kit/ids.ts';
import { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { OperatorServices } from './operator.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
let folder: string;
let store: Store;
let clock: ManualClock;
let ledger: Ledger;
let services: OperatorServices;
let accountId: bigint;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-accounts-'));
  clock = new ManualClock(NOW_MS);
  await copyEmptyLedger(folder);
  store = await openSqliteStore({ folder, clock, threads: false });
  const { epoch } = await store.beginInstance();
  ledger = new Ledger({ store, clock, epoch });
  services = operatorServices({ store, clock, ledger });
  accountId = parseId('acct_', (await run('accounts.create', { name: 'ada' })).id)!;
  await run('accounts.credit', { account: 'ada', amount_nanousd: 100 });
});

afterEach(async () => {
  expect((await store.verify()).violations).toEqual([]);
  await ledger.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

const run = verbRunner(() => services);

async function hold(amountNanousd: bigint): Promise<{ id: bigint; kind: string }> {
  const id = services.ids.next();
  const names = { route: '/v1/chat/completions', requestedModel: 'm', effectiveModel: 'm' };
  const priceId = await store.registerPrices('v1', '{}');
  const terms = { ceilingNanousd: null, stream: false, labels: null, idempotency: null, priceId };
  const outcome = await ledger.hold({ id, accountId, keyId: null, amountNanousd, ...terms, ...names });
  return { id, kind: outcome.kind === 'hold_refused' ? outcome.reason : outcome.kind };
}

const release = (id: bigint) => ledger.release(id, { ended: 'failed', httpStatus: 500 });

async function audited(): Promise<object[]> {
  const { data } = await run('audit.list', { account: 'ada' });
  return data.map(({ action, before, after }) => ({ action, before, after })).reverse();
}

test('an account is suspended and resumed, with a row of the audit for each change', async () => {
  expect(await run('accounts.suspend', { account: 'ada' })).toMatchObject({ status: 'suspended', version: 2 });
  expect(await run('accounts.suspend', { account: 'ada' })).toMatchObject({ status: 'suspended', version: 2 });
  expect((await hold(1n)).kind).toBe('account_suspended');
  expect(await run('accounts.resume', { account: 'ada' })).toMatchObject({ status: 'active', version: 3 });
  const { id, kind } = await hold(1n);
  expect(kind).toBe('held');
  await release(id);
  expect((await audited()).slice(2)).toEqual([
    { action: 'account.suspend', before: { status: 'active' }, after: { status: 'suspended' } },
    { action: 'account.resume', before: { status: 'suspended' }, after: { status: 'active' } },
  ]);
});

test('an account is shown by its name and by its id, with what is held and what can be spent', async () => {
  const before = await run('accounts.show', { account: 'ada' });
  const { id } = await hold(1n);
  const shown = await run('accounts.show', { account: before.id });
  expect(shown).toEqual({ ...before, held_nanousd: 1n, available_nanousd: before.available_nanousd - 1n });
  await release(id);
  await expect(run('accounts.show', { account: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
});

test('an account is renamed in the version that was read', async () => {
  await run('accounts.create', { name: 'bob' });
  await expect(run('accounts.rename', { account: 'ada', name: 'bob' })).rejects.toMatchObject({ code: 'refused' });
  const { version } = await run('accounts.show', { account: 'ada' });
  expect(await run('accounts.rename', { account: 'ada', name: 'eve', version })).toMatchObject({ version: 2 });
  const again = run('accounts.rename', { account: 'eve', name: 'mallory', version: 1 });
  await expect(again).rejects.toMatchObject({ code: 'version_conflict', status: 412 });
  for (const input of [
    { account: 'local', name: 'mine' },
    { account: 'eve', name: 'local' },
  ]) {
    await ensureLocalAccount(services);
    await expect(run('accounts.rename', input)).rejects.toThrow(
      '"local" belongs to the account of local mode. Choose another',
    );
  }
});

test('closing says what is still open, and goes on when it is run again', async () => {
  const { id } = await hold(60n);
  const first = run('accounts.close', { account: 'ada', wait_seconds: 0 });
  await expect(first).rejects.toThrow(
    '1 call is still running in "ada", with $0.00000006 held. The account is suspended and takes no new calls.',
  );
  expect((await hold(1n)).kind).toBe('account_suspended');
  await release(id);
  const closed = await run('accounts.close', { account: 'ada', note: 'to invoice 7' });
  expect(closed).toMatchObject({ status: 'closed', balance_nanousd: 0n, paid_out_nanousd: 100n });
  expect(await run('accounts.close', { account: 'ada' })).toMatchObject({ paid_out_nanousd: 0n });
  expect((await audited()).slice(-2)).toMatchObject([
    { action: 'account.suspend' },
    { action: 'account.close', before: { status: 'suspended' }, after: { status: 'closed', paid_out_nanousd: 100 } },
  ]);
  const { data } = await run('accounts.entries', { account: 'ada' });
  expect(data[0]).toMatchObject({ amount_nanousd: -100n, note: 'to invoice 7' });
});

test('closing cancels the jobs that wait, including those of a group that was just accepted', async () => {
  await store.jobs.stage([aJob(910n, 30n, { accountId })], []);
  await store.jobs.createGroup(aGroup(920n, { accountId }));
  await store.jobs.stage([aJob(921n, 20n, { accountId, groupId: 920n, line: 1 })], []);
  await ledger.reserve(aReserve(910n, 30n, { accountId }));
  await ledger.reserve(aReserve(920n, 20n, { accountId, isGroup: true }));
  expect(await store.findAccount(accountId)).toMatchObject({ reservedNanousd: 50n });
  expect(await run('accounts.close', { account: 'ada', wait_seconds: 0 })).toMatchObject({ paid_out_nanousd: 100n });
  for (const id of [910n, 921n]) {
    expect(await store.jobs.find(id, accountId)).toMatchObject({ state: 'cancelled', errorCode: 'account_closed' });
  }
});

test('closing waits for running calls', async () => {
  const { id } = await hold(60n);
  const closing = run('accounts.close', { account: 'ada', wait_seconds: 10 });
  await until(async () => (await store.findAccount(accountId))?.status === 'suspended', 'the account is suspended');
  await release(id);
  let isOver = false;
  const ended = closing.finally(() => {
    isOver = true;
  });
  await until(() => {
    clock.advance(LIMITS.accountClosePollMs);
    return isOver;
  }, 'the account is closed');
  expect(await ended).toMatchObject({ status: 'closed', paid_out_nanousd: 100n });
});

test('a closed account takes no money, no keys and no resumption, and that of local mode is never closed', async () => {
  await run('accounts.close', { account: 'ada' });
  for (const refused of [
    () => run('accounts.credit', { account: 'ada', amount_nanousd: 5 }),
    () => run('keys.mint', { account: 'ada' }),
    () => run('accounts.suspend', { account: 'ada' }),
    () => run('accounts.resume', { account: 'ada' }),
  ]) {
    await expect(refused()).rejects.toThrow('"ada" is closed for good');
  }
  await ensureLocalAccount(services);
  await expect(run('accounts.close', { account: 'local' })).rejects.toThrow('Suspend it instead');
});
