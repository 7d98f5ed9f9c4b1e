import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_PREFIX } from '../src/canonical/id-prefixes.ts';
import { systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { freshSchema, runSql } from './postgres.ts';
import { aCredit, aHold, aSettle, prepare } from './store-fixtures.ts';

const open: Store[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function kept<Opened extends Store>(opening: Promise<Opened>): Promise<Opened> {
  const store = await opening;
  open.push(store);
  return store;
}

async function withReceipt(store: Store): Promise<void> {
  await prepare(store);
  await store.apply([aCredit(1n, 1_000n), aHold(1n, 100n), aSettle(1n, 60n)]);
}

describe('of 60 refunds at once', () => {
  const refundAll = async (stores: readonly Store[]) => {
    const refunds = Array.from({ length: 60 }, (_, at) => aCredit(BigInt(at + 10), 7n, { callId: 1n }));
    const outcomes = await Promise.all(refunds.map((refund, at) => stores[at % stores.length]!.apply([refund])));
    return outcomes.flat().filter(({ kind }) => kind === 'credited').length;
  };

  test('exactly as many as the cost covers are made on SQLite', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-refunds-'));
    folders.push(folder);
    const store = await kept(openSqliteStore({ folder, clock: systemClock }));
    await withReceipt(store);
    expect(await refundAll([store])).toBe(8);
    expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 996n, spentNanousd: 60n });
    expect(await store.verify()).toMatchObject({ refunds: 8, violations: [] });
  });

  test('exactly as many as the cost covers are made by three processes on one PostgreSQL', async () => {
    const url = await freshSchema();
    const openOne = () => kept(openPostgresStore({ url, clock: systemClock }));
    const stores = [await openOne(), await openOne(), await openOne()];
    await withReceipt(stores[0]!);
    expect(await refundAll(stores)).toBe(8);
    expect(await stores[1]!.findAccount(1n)).toMatchObject({ balanceNanousd: 996n, spentNanousd: 60n });
    expect(await stores[2]!.verify()).toMatchObject({ refunds: 8, violations: [] });
  });
});

describe('a refund that was changed behind the ledger is reported', () => {
  const RAISE = 'UPDATE credit SET amount = 61 WHERE call_id = 1';
  const BALANCE = 'UPDATE balance SET balance = balance + 41';
  const violations = ['Call 1: its refunds exceed its cost, or it cannot be refunded.'];

  test('on SQLite', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-refunds-'));
    folders.push(folder);
    const store = await openSqliteStore({ folder, clock: systemClock, threads: false });
    await withReceipt(store);
    await store.apply([aCredit(2n, 20n, { callId: 1n })]);
    await store.close();
    const database = new DatabaseSync(join(folder, 'tollgate.sqlite'));
    database.exec(`${RAISE}; ${BALANCE}`);
    database.close();
    const again = await kept(openSqliteStore({ folder, clock: systemClock, threads: false }));
    expect(await again.verify()).toMatchObject({ violations });
  });

  test('on PostgreSQL', async () => {
    const url = await freshSchema();
    const store = await kept(openPostgresStore({ url, clock: systemClock }));
    await withReceipt(store);
    await store.apply([aCredit(2n, 20n, { callId: 1n })]);
    await runSql(url, RAISE);
    await runSql(url, BALANCE);
    expect(await store.verify()).toMatchObject({ violations });
  });
});

describe('over HTTP', () => {
  let harness: Harness;
  let caller: MintedKey;

  beforeAll(async () => {
    harness = await startHarness();
    caller = await harness.mint();
  });
  afterAll(() => harness.stop());

  const manage = async (method: string, path: string, body?: object) => {
    const token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${harness.url}/manage/v1${path}`, { method, headers, ...sent });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  test('the operator refunds a part and then the rest, and the caller sees it', async () => {
    const key = { authorization: `Bearer ${caller.secret}` };
    const messages = [{ role: 'user', content: 'Say hello.' }];
    const answer = await harness.post({ model: 'sim-gpt', messages, max_tokens: 20 }, key);
    const id = answer.headers.get('x-gateway-request-id');
    const cost = Number(answer.headers.get('x-gateway-cost-nanousd'));
    const refund = (body: object) => manage('POST', `/receipts/${id}/refund`, body);
    const seen = async () => (await harness.get(`/v1/receipts/${id}`, key)).json();
    expect(await seen()).toMatchObject({ cost_nanousd: cost, refunded_nanousd: 0 });

    const part = { amount_nanousd: 1, reference: 'ticket-1', note: 'half an answer' };
    expect(await refund(part)).toMatchObject({ status: 201, body: { refunded_nanousd: 1, repeated: false } });
    expect(await refund(part)).toMatchObject({ body: { refunded_nanousd: 1, repeated: true } });
    expect(await refund({ amount_nanousd: cost })).toMatchObject({ status: 409 });
    const whole = { amount_nanousd: cost - 1, refunded_nanousd: cost };
    expect(await refund({ reference: 'ticket-2' })).toMatchObject({ body: { ...whole, repeated: false } });
    expect(await refund({ reference: 'ticket-2' })).toMatchObject({ body: { ...whole, repeated: true } });
    const message = expect.stringContaining('was refunded before');
    expect(await refund({})).toMatchObject({ status: 409, body: { error: { message } } });

    expect(await seen()).toMatchObject({ cost_nanousd: cost, refunded_nanousd: cost });
    const list = (await (await harness.get('/v1/receipts', key)).json()) as { data: object[] };
    expect(list.data).toMatchObject([{ id, refunded_nanousd: cost }]);
    const { body: audit } = await manage('GET', '/audit?action=receipt.refund');
    expect(audit).toMatchObject({ data: [{ subject: id, after: { amount_nanousd: cost - 1 } }, { subject: id }] });
    const account = formatId(ACCOUNT_PREFIX, caller.accountId);
    expect((await manage('GET', `/accounts/${account}/entries`)).body).toMatchObject({
      data: [
        { type: 'refund', receipt: id, amount_nanousd: cost - 1 },
        { type: 'refund', receipt: id, note: 'half an answer' },
        { type: 'credit', amount_nanousd: 1_000_000_000 },
      ],
    });
    const first = await manage('GET', `/accounts/${account}/entries?limit=1`);
    const second = await manage('GET', `/accounts/${account}/entries?limit=2&after=${first.body.next}`);
    expect(second.body).toMatchObject({ data: [{ reference: 'ticket-1' }, { type: 'credit' }] });
    expect(await manage('GET', `/accounts/${account}/entries?after=elsewhere`)).toMatchObject({ status: 400 });
    await harness.expectCleanBooks();
  });
});
