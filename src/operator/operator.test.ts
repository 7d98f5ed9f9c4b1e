import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { operatorServices, verbRunner } from '../../test/operator-services.ts';
import { ensureLocalAccount } from '../accounts/accounts.ts';
import { buildCatalog } from '../catalog/catalog.ts';
import { loadSimulatedFile } from '../catalog/load.ts';
import { MasterKeyring } from '../custody/keyring.ts';
import { ManualClock } from '../kit/clock.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { Secret } from '../kit/secret.ts';
import { Ledger } from '../ledger/ledger.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { answerOperator, type OperatorServices, runVerb, VERBS, type VerbName } from './operator.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
let services: OperatorServices;
let store: MemoryStore;
const refresh = vi.fn(async () => {});
const masterKey = new Secret(randomBytes(32).toString('base64'));

beforeEach(async () => {
  refresh.mockClear();
  const clock = new ManualClock(NOW_MS);
  store = new MemoryStore(clock);
  const { epoch } = await store.beginInstance();
  const file = loadSimulatedFile();
  const catalog = buildCatalog({ rows: file.models, hosts: new Set(['sim']), version: file.version });
  services = operatorServices({
    store,
    clock,
    ledger: new Ledger({ store, clock, epoch }),
    catalog: () => catalog,
    directory: { refresh },
    hangups: () => ({ allowanceNanousd: 500n, lostNanousd: 200n, resetsMs: Date.UTC(2026, 6, 1) }),
    masterKeys: () => new MasterKeyring({ kind: 'text', text: masterKey, source: 'TOLLGATE_MASTER_KEY' }),
  });
});

const run = verbRunner(() => services);

async function account(name = 'ada') {
  return run('accounts.create', { name });
}

async function charge(accountId: string, keyId: string | null, costNanousd: bigint): Promise<bigint> {
  const id = services.ids.next();
  const ledger = services.ledger as Ledger;
  const priceId = await store.registerPrices('v1', '{}');
  const names = { route: '/v1/chat/completions', requestedModel: 'sim-gpt', effectiveModel: 'sim-gpt' };
  const held = await ledger.hold({
    id,
    accountId: parseId('acct_', accountId)!,
    keyId: keyId === null ? null : parseId('key_', keyId),
    amountNanousd: costNanousd,
    ceilingNanousd: null,
    stream: false,
    priceId,
    labels: null,
    idempotency: null,
    ...names,
  });
  expect(held.kind).toBe('held');
  const nothing = {
    usageSource: 'none',
    usage: null,
    components: null,
    host: 'sim',
    attempts: 1,
    tries: null,
  } as const;
  const loss = { lossNanousd: 0n, lossReason: null, hangupCharged: null, adjusted: null, firstByteMs: null };
  await ledger.settle(id, { ended: 'complete', httpStatus: 200, costNanousd, ...nothing, ...loss });
  return id;
}

describe('accounts', () => {
  test('are created once by name, listed in order, a page at a time', async () => {
    const names = ['ada', 'bob', 'cy'];
    for (const name of names) await account(name);
    await expect(account('bob')).rejects.toMatchObject({ code: 'refused', hint: 'tollgate accounts list' });
    const first = await run('accounts.list', { limit: 2 });
    expect(first.data.map(({ name }) => name)).toEqual(['ada', 'bob']);
    const rest = await run('accounts.list', { limit: 2, after: first.next });
    expect(rest.data.map(({ name }) => name)).toEqual(['cy']);
    expect(rest.next).toBeNull();
  });

  test('are credited and debited, a reference once, never below what is available', async () => {
    await account();
    const top = { account: 'ada', amount_nanousd: 5, reference: 'r1' };
    expect(await run('accounts.credit', top)).toMatchObject({ balance_nanousd: 5n, repeated: false });
    expect(await run('accounts.credit', top)).toMatchObject({ balance_nanousd: 5n, repeated: true });
    const other = { ...top, amount_nanousd: 6 };
    await expect(run('accounts.credit', other)).rejects.toThrow('"r1" was used before with a different amount');
    expect(await run('accounts.credit', { account: 'ada', amount_nanousd: '-2' })).toMatchObject({
      balance_nanousd: 3n,
    });
    await expect(run('accounts.credit', { account: 'ada', amount_nanousd: -4 })).rejects.toThrow(
      'Only $0.000000003 can be removed',
    );
    await expect(run('accounts.credit', { account: 'ada', amount_nanousd: 0 })).rejects.toThrow('zero');
    await expect(run('accounts.credit', { account: 'bob', amount_nanousd: 1 })).rejects.toMatchObject({
      code: 'not_found',
      hint: 'tollgate accounts list',
    });
  });

  test.each(['', ' ', 'acct_x', 'key_x', 'a\nb', 'x'.repeat(101)])('a name like %j is refused', async (name) => {
    await expect(account(name)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

test('a ledger that has moved can be read but not changed', async () => {
  const { id } = await account();
  const { id: key } = await run('keys.mint', { account: 'ada' });
  services = { ...services, moved: 'The books have moved.' };
  const changes: [VerbName, object][] = [
    ['accounts.create', { name: 'bob' }],
    ['accounts.rename', { account: 'ada', name: 'bob' }],
    ['accounts.suspend', { account: 'ada' }],
    ['accounts.resume', { account: 'ada' }],
    ['accounts.close', { account: 'ada' }],
    ['accounts.credit', { account: 'ada', amount_nanousd: 5 }],
    ['receipts.refund', { receipt: 'req_0000000000000' }],
    ['receipts.sign', { receipt: 'req_0000000000000' }],
    ['receipts.signrefunds', { receipt: 'req_0000000000000' }],
    ['receipts.rotatekey', {}],
    ['keys.mint', { account: 'ada' }],
    ['keys.update', { key, name: 'other' }],
    ['keys.revoke', { key }],
    ['keys.rotate', { key }],
    ['keys.disable', { key }],
    ['keys.enable', { key }],
    ['seal.rotate', {}],
    ['alerts.acknowledge', { alert: 'alert_1' }],
    ['alerts.configure', { account: 'ada' }],
    ['webhooks.put', { name: 'a', url: 'https://hooks.example.com/' }],
    ['webhooks.rotate', { name: 'a' }],
    ['webhooks.test', { name: 'a' }],
    ['webhooks.remove', { name: 'a' }],
    ['people.invite', { email: 'a@example.com' }],
    ['people.update', { person: 'a@example.com', name: 'A' }],
    ['people.disable', { person: 'a@example.com' }],
    ['people.enable', { person: 'a@example.com' }],
    ['people.reset', { person: 'a@example.com' }],
    ['people.signout', { person: 'a@example.com' }],
    ['sessions.end', { session: 'session_1' }],
    ['invitations.revoke', { invitation: 'inv_1' }],
    ['members.put', { account: 'ada', person: 'a@example.com', role: 'owner' }],
    ['members.update', { account: 'ada', person: 'a@example.com', role: 'owner' }],
    ['members.remove', { account: 'ada', person: 'a@example.com' }],
    ['managementkeys.mint', { expires_at: NOW_MS }],
    ['managementkeys.revoke', { management_key: 'mkey_1' }],
    ['models.resetholds', { model: 'sim-gpt' }],
    ['providerkeys.put', { account: 'ada', provider: 'cloud', api_key: 'k', base_url: 'https://example.com' }],
    ['providerkeys.verify', { account: 'ada', provider: 'cloud' }],
    ['providerkeys.remove', { account: 'ada', provider: 'cloud' }],
    ['store.archive', { before: 0, to: '/archive' }],
    ['jobs.cancel', { job: 'job_0000000000000' }],
    ['jobs.resume', { restored: true }],
    ['jobs.fail', { restored: true }],
    ['jobgroups.cancel', { job_group: 'group_0000000000000' }],
  ];
  for (const [name, input] of changes) {
    await expect(runVerb(services, name, input), name).rejects.toMatchObject({ code: 'moved' });
  }
  expect(await run('balance.show', { account: 'ada' })).toMatchObject({ account: id, balance_nanousd: 0n });
  expect((await run('keys.list', {})).data).toMatchObject([{ id: key, status: 'active' }]);
  expect(await run('ledger.verify', {})).toMatchObject({ accounts: 1, violations: [] });
  expect(await run('status', {})).toMatchObject({ store: { may_admit: false, reason: 'The books have moved.' } });
  const reads = Object.entries(VERBS).filter(([, { onlyReads }]) => onlyReads);
  expect(reads).toHaveLength(Object.keys(VERBS).length - changes.length);
});

describe('balance', () => {
  test('of an account and of a key with a cap, to the nanodollar', async () => {
    const { id } = await account();
    await run('accounts.credit', { account: 'ada', amount_nanousd: 1000 });
    const key = await run('keys.mint', { account: 'ada', spend_cap_nanousd: 300, window: 'month' });
    await charge(id, key.id, 120n);
    const balance = await run('balance.show', { key: key.id });
    expect(balance).toEqual({
      object: 'balance',
      currency: 'USD',
      unlimited: false,
      balance_nanousd: 880n,
      held_nanousd: 0n,
      reserved_nanousd: 0n,
      available_nanousd: 880n,
      spent_nanousd: 120n,
      hangups: { allowance_nanousd: 500n, remaining_nanousd: 300n, resets_at: Date.UTC(2026, 6, 1) / 1000 },
      key: {
        id: key.id,
        spend_cap_nanousd: 300n,
        spent_nanousd: 120n,
        held_nanousd: 0n,
        reserved_nanousd: 0n,
        remaining_nanousd: 180n,
        window: 'month',
        resets_at: Date.UTC(2026, 6, 1) / 1000,
      },
      account: id,
      name: 'ada',
    });
    await run('keys.update', { key: key.id, spend_cap_nanousd: 100 });
    expect((await run('balance.show', { key: key.id })).key?.remaining_nanousd).toBe(0n);
  });

  test('without a name is the local one, and a key must belong to the account that is named', async () => {
    await expect(run('balance.show', {})).rejects.toMatchObject({ code: 'not_found' });
    await ensureLocalAccount(services);
    expect(await run('balance.show', {})).toMatchObject({ name: 'local', unlimited: true, key: null });
    await account();
    const key = await run('keys.mint', { account: 'ada' });
    await expect(run('balance.show', { account: 'local', key: key.id })).rejects.toThrow(
      'does not belong to the account',
    );
  });
});

test('receipts are shown by id and listed newest first, with the operator’s part', async () => {
  const { id } = await account();
  await run('accounts.credit', { account: 'ada', amount_nanousd: 1000 });
  await charge(id, null, 1n);
  await charge(id, null, 2n);
  const listed = await run('receipts.list', { account: 'ada', limit: 1 });
  expect(listed.data).toMatchObject([{ cost_nanousd: 2n, host: 'sim', account: id }]);
  const older = await run('receipts.list', { account: 'ada', limit: 1, after: listed.next });
  expect(older.data).toMatchObject([{ cost_nanousd: 1n }]);
  expect(await run('receipts.show', { receipt: String(older.data[0]?.id) })).toMatchObject({ cost_nanousd: 1n });
  for (const receipt of ['req_0000000000000', 'nonsense']) {
    await expect(run('receipts.show', { receipt })).rejects.toMatchObject({ code: 'not_found' });
  }
  expect((await run('receipts.list', { since: NOW_MS / 1000 + 1 })).data).toEqual([]);
});

test('a receipt that was archived is not refunded, and the error says what to do instead', async () => {
  const { id } = await account();
  await run('accounts.credit', { account: 'ada', amount_nanousd: 1000 });
  await charge(id, null, 2n);
  const { data } = await run('receipts.list', { account: 'ada' });
  const receipt = await store.findReceipt(parseId('req_', String(data[0]!.id))!, null);
  const archived = { ...receipt!, id: 7n };
  Object.assign(store, { archive: { find: async () => archived } });
  await expect(run('receipts.refund', { receipt: formatId('req_', 7n) })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('archived'),
    hint: expect.stringContaining('tollgate accounts credit'),
  });
});

test('models come with prices and hosts, the status with the store’s health', async () => {
  const models = await run('models.list', {});
  expect(models.data.map((model) => model.id)).toContain('sim-gpt');
  expect(models.data[0]?.hosts).toEqual(['sim']);
  expect(await run('status', {})).toMatchObject({ server: null, store: { ok: true }, models: models.data.length });
});

test('the ledger is verified, and every violation is reported', async () => {
  expect(await run('ledger.verify', {})).toMatchObject({ ok: true, violations: [] });
  const report = await store.verify();
  vi.spyOn(store, 'verify').mockResolvedValue({ ...report, violations: ['Account 7 is wrong.'] });
  expect(await run('ledger.verify', {})).toMatchObject({ ok: false, violations: ['Account 7 is wrong.'] });
});

describe('over JSON', () => {
  test('amounts beyond the exact range of JSON numbers go in as text and come out digit for digit', async () => {
    await account();
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 2n ** 53n, max: 2n ** 56n }), fc.uuid(), async (amount, reference) => {
        const input = JSON.stringify({ account: 'ada', amount_nanousd: String(amount), reference });
        const { status, body } = await answerOperator(services, 'accounts.credit', input);
        expect(status).toBe(200);
        expect(body).toContain(`"amount_nanousd":${amount},`);
      }),
      { numRuns: 20 },
    );
  });

  test.each<[string, string, number, string]>([
    ['nonsense', '{}', 404, 'unknown_verb'],
    ['toString', '{}', 404, 'unknown_verb'],
    ['accounts.create', '{', 400, 'invalid_input'],
    ['accounts.create', '{}', 400, 'invalid_input'],
    ['receipts.list', '{"model":"a\\u0000"}', 400, 'invalid_input'],
    ['receipts.list', '{"chain":"\\u0000"}', 400, 'invalid_input'],
    ['keys.mint', '{"account":"ada","note":"a\\u0000b"}', 400, 'invalid_input'],
    ['accounts.create', '{"name":"x","knid":"prepaid"}', 400, 'invalid_input'],
    ['accounts.credit', '{"account":"ada","amount_nanousd":9007199254740993}', 400, 'invalid_input'],
    ['accounts.credit', '{"account":"ada","amount_nanousd":"9223372036854775808"}', 400, 'invalid_input'],
    ['accounts.credit', '{"account":"ada","amount_nanousd":1.5}', 400, 'invalid_input'],
    ['accounts.credit', '{"account":"nobody","amount_nanousd":1}', 404, 'not_found'],
    ['accounts.list', '{"after":"key_0"}', 400, 'invalid_input'],
  ])('%s with %s is refused with a status and a code', async (name, text, status, code) => {
    const answer = await answerOperator(services, name, text);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body).error).toMatchObject({ code });
  });

  test('an empty body is an empty input', async () => {
    expect((await answerOperator(services, 'status', '')).status).toBe(200);
  });

  test('an unexpected error is not turned into an answer', async () => {
    vi.spyOn(store, 'health').mockRejectedValue(new TypeError('a bug'));
    await expect(answerOperator(services, 'status', '')).rejects.toThrow('a bug');
  });
});

test('every verb the command line needs is in the table', () => {
  expect(Object.keys(VERBS)).toEqual([
    ...['accounts.create', 'accounts.show', 'accounts.rename', 'accounts.suspend', 'accounts.resume', 'accounts.close'],
    ...['accounts.list', 'accounts.credit', 'accounts.entries'],
    ...['keys.mint', 'keys.list', 'keys.update', 'keys.show', 'keys.rotate'],
    ...['keys.disable', 'keys.enable', 'keys.revoke'],
    ...['people.invite', 'people.list', 'people.show', 'people.update', 'people.disable', 'people.enable'],
    ...['people.reset', 'people.sessions', 'people.signout', 'sessions.end', 'invitations.list', 'invitations.revoke'],
    ...['members.list', 'members.put', 'members.update', 'members.remove'],
    ...['managementkeys.mint', 'managementkeys.list', 'managementkeys.revoke', 'audit.list'],
    ...[
      'models.list',
      'models.holds',
      'models.resetholds',
      'balance.show',
      'providerkeys.list',
      'providerkeys.put',
      'providerkeys.verify',
      'providerkeys.remove',
      ...['webhooks.list', 'webhooks.put', 'webhooks.show', 'webhooks.rotate', 'webhooks.test'],
      ...['webhooks.deliveries', 'webhooks.remove'],
      ...['alerts.list', 'alerts.acknowledge', 'alerts.settings', 'alerts.configure'],
      ...['jobs.list', 'jobs.show', 'jobs.cancel', 'jobs.resume', 'jobs.fail'],
      ...['jobgroups.list', 'jobgroups.show', 'jobgroups.cancel'],
      'hosts.list',
      'hosts.losses',
      'receipts.show',
      'receipts.list',
      'refusals.list',
      'receipts.refund',
      ...['receipts.sign', 'receipts.signrefunds', 'receipts.keys', 'receipts.rotatekey'],
      'usage.report',
      'ledger.verify',
      ...['store.backup', 'store.archive', 'store.checkarchive'],
      'seal.status',
      'seal.secrets',
      'seal.rotate',
      'system.show',
      'system.verify',
      'system.verification',
      'progress.show',
      'status',
    ],
  ]);
});
