import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReceiptKeys, verifyReceipt } from '../packages/client/src/verify.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { runCli } from '../src/cli/run.ts';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { compose } from '../src/main/compose.ts';
import { databaseFile } from '../src/store/sqlite/database.ts';
import type { CliRun } from './cli-fixture.ts';
import { blocksOf } from './doc-blocks.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

const run = promisify(execFile);
const HELLO = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
const KEY_SET = '/.well-known/tollgate-receipt-keys.json';

let harness: Harness;
let caller: MintedKey;
let id: string;
let aheadMs = 0;
/** Hours pass when a test says so. */
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };

beforeAll(async () => {
  harness = await startHarness({ hosted: true, clock });
  caller = await harness.mint({ creditNanousd: 1_000_000_000n });
  const answer = await harness.post(HELLO, withKey());
  id = answer.headers.get('x-gateway-request-id')!;
  await answer.text();
});
afterAll(() => harness.stop());

function withKey({ secret } = caller): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

async function close(): Promise<void> {
  aheadMs += 2 * 3_600_000;
  await harness.running.books.store.closeBooks(null);
}

async function signed(query: string): Promise<Response> {
  return harness.get(`/v1/receipts/${id}?signed=true${query}`, withKey());
}

async function tollgate(...args: string[]): Promise<CliRun> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { writeOut: (text: string) => void out.push(text), writeErr: (text: string) => void err.push(text) };
  const composition = compose({ program: 'tollgate', terminal, cwd: harness.folder, clock });
  const code = await runCli(args, { TOLLGATE_DATA: harness.folder }, composition);
  return { code, out: out.join(''), err: err.join('') };
}

describe('the callers’ API', () => {
  test('signs a receipt that the key set verifies; both need no account of the reader', async () => {
    const answer = await harness.get(`/v1/receipts/${id}?signed=true`, withKey());
    expect(answer.status).toBe(200);
    const keys = await harness.get(KEY_SET);
    expect([keys.status, keys.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    const { content, kind } = await verifyReceipt(await answer.text(), (await keys.json()) as ReceiptKeys);
    const plain = await harness.receipt(id, caller.secret);
    expect(kind).toBe('receipt');
    expect(content).toMatchObject({ id, cost_nanousd: String(plain.cost_nanousd), price_version: plain.price_version });
  });

  test.each(['yes', 'True', '1', '', 'false'])('refuses signed=%s, naming the field', async (value) => {
    const answer = await harness.get(`/v1/receipts/${id}?signed=${value}`, withKey());
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_value', param: 'signed', message: '`signed` must be `true` or be left out.' } },
    ]);
  });

  test.each([
    ['?signed=true&signed=true', 'signed', '`signed` must be sent once.'],
    ['?sigend=true', 'sigend', 'Use signed, proof.'],
    ['/refunds?limit=1', 'limit', 'This route takes no parameters.'],
  ])('refuses the parameters of %s, naming the wrong one', async (query, param, words) => {
    const answer = await harness.get(`/v1/receipts/${id}${query}`, withKey());
    const { error } = (await answer.json()) as { error: { param: string; message: string } };
    expect([answer.status, error.param]).toEqual([400, param]);
    expect(error.message).toContain(words);
  });

  test('signs no receipt of another account', async () => {
    const stranger = await harness.mint();
    const answer = await harness.get(`/v1/receipts/${id}?signed=true`, withKey(stranger));
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'receipt_not_found' } }]);
  });
});

describe('proofs and refunds', () => {
  const inFolder = (name: string, content: unknown): void =>
    writeFileSync(join(harness.folder, name), typeof content === 'string' ? content : JSON.stringify(content));

  test('a proof is refused without signed=true, and before the receipt is closed', async () => {
    const alone = await harness.get(`/v1/receipts/${id}?proof=true`, withKey());
    expect([alone.status, await alone.json()]).toMatchObject([400, { error: { param: 'proof' } }]);
    const early = await signed('&proof=true');
    expect([early.status, await early.json()]).toMatchObject([
      409,
      { error: { code: 'proof_unavailable', param: 'proof' } },
    ]);
  });

  test('a proof leads to the root that a customer kept, and not to that of another month', async () => {
    await close();
    const document = await (await signed('&proof=true')).json();
    inFolder('proof.json', document);
    const first = await tollgate('receipts', 'verify', 'proof.json', '--root', 'proof.json');
    expect(first).toMatchObject({
      code: EXIT.ok,
      out: expect.stringMatching(/proof +in root 1, of \d{4}-\d\d, which has not ended: /),
    });
    inFolder('root.json', (document as { proof: { root: object } }).proof.root);
    expect((await tollgate('receipts', 'verify', 'proof.json', '--root', 'root.json')).code).toBe(EXIT.ok);
    await (await harness.post(HELLO, withKey())).text();
    await close();
    inFolder('later.json', await (await signed('&proof=true')).json());
    const grown = await tollgate('receipts', 'verify', 'later.json', '--root', 'root.json');
    expect(grown).toMatchObject({ code: EXIT.no, err: expect.stringContaining('before its month had ended') });
    inFolder('plain.json', await (await signed('')).json());
    const none = await tollgate('receipts', 'verify', 'plain.json', '--root', 'root.json');
    expect(none).toMatchObject({ code: EXIT.no, err: expect.stringContaining('The receipt has no proof.') });
  });

  test('each refund is a signed document of its own, and changes nothing in that of the receipt', async () => {
    const list = async () =>
      (await harness.get(`/v1/receipts/${id}/refunds`, withKey())).json() as Promise<{ data: object[] }>;
    expect(await list()).toEqual({ object: 'list', data: [] });
    const contentOf = async (document: string) => {
      inFolder('document.json', document);
      return JSON.parse((await tollgate('receipts', 'verify', 'document.json', '--json')).out);
    };
    const before = await contentOf(await (await signed('')).text());
    await tollgate('receipts', 'refund', id, '--nanousd', '7', '--reference', 'ticket 1', '--note', 'for the operator');
    await tollgate('receipts', 'refund', id, '--nanousd', '5');
    const { data } = await list();
    expect(data).toHaveLength(2);
    const { kind, content } = await contentOf(JSON.stringify(data[0]));
    expect([kind, content]).toMatchObject(['refund', { receipt: id, amount_nanousd: '7', reference: 'ticket 1' }]);
    expect(JSON.stringify(content)).not.toContain('for the operator');
    expect((await contentOf(await (await signed('')).text())).content).toEqual(before.content);
    const shown = await tollgate('receipts', 'show', id, '--signed', '--refunds');
    expect(JSON.parse(shown.out).data).toHaveLength(2);
    const stranger = await harness.mint();
    expect((await harness.get(`/v1/receipts/${id}/refunds`, withKey(stranger))).status).toBe(404);
  });

  test('a receipt that was changed in the database is not signed; log and metrics say so', async () => {
    const database = new DatabaseSync(databaseFile(harness.folder));
    const change = (by: number) => database.exec(`UPDATE call SET held = held + ${by}`);
    change(1);
    try {
      const refused = await signed('');
      expect([refused.status, await refused.json()]).toMatchObject([500, { error: { code: 'receipt_not_signed' } }]);
      const shown = await tollgate('receipts', 'show', id, '--signed', '--proof');
      expect(shown).toMatchObject({ code: EXIT.no, err: expect.stringContaining('so it is not signed') });
    } finally {
      change(-1);
      database.close();
    }
    const errors = harness.log.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatchObject({ receipt: id, msg: expect.stringContaining('was changed in the ledger') });
    const metrics = await (await fetch(`${harness.running.operationsUrl}/metrics`)).text();
    expect(metrics).toContain('tollgate_receipt_mismatches_total 2');
    expect((await signed('&proof=true')).status).toBe(200);
  });
});

describe('the command line', () => {
  test('signs a receipt, verifies it with the keys of the gateway, and refuses a changed one', async () => {
    const signed = await tollgate('receipts', 'show', id, '--signed');
    expect(signed).toMatchObject({ code: EXIT.ok, err: '' });
    writeFileSync(join(harness.folder, 'receipt.json'), signed.out);
    const own = await tollgate('receipts', 'verify', 'receipt.json');
    expect(own).toMatchObject({ code: EXIT.ok, out: expect.stringMatching(/^verified +yes, by the key /) });
    const byUrl = await tollgate('receipts', 'verify', 'receipt.json', '--keys', harness.url + KEY_SET, '--json');
    expect(JSON.parse(byUrl.out)).toMatchObject({ verified: true, kind: 'receipt', content: { id } });
    const { signature, ...rest } = JSON.parse(signed.out);
    writeFileSync(join(harness.folder, 'changed.json'), JSON.stringify({ ...rest, signature: signature.slice(2) }));
    const changed = await tollgate('receipts', 'verify', 'changed.json');
    expect(changed).toMatchObject({
      code: EXIT.no,
      err: expect.stringContaining('NOT VERIFIED: The signature is wrong'),
    });
  });

  test('lists the keys, rotates them, and verifies with a file of them', async () => {
    const rotated = await tollgate('receipts', 'rotate-key');
    expect(rotated.out.trim().split('\n')).toHaveLength(3);
    const again = await tollgate('receipts', 'rotate-key');
    expect(again).toMatchObject({ code: EXIT.no, err: expect.stringContaining('does not sign yet') });
    expect(await tollgate('receipts', 'rotate-key', '--now')).toMatchObject({ code: EXIT.ok });
    writeFileSync(join(harness.folder, 'keys.json'), (await tollgate('receipts', 'keys', '--json')).out);
    const signed = await tollgate('receipts', 'show', id, '--signed');
    writeFileSync(join(harness.folder, 'receipt.json'), signed.out);
    const verified = await tollgate('receipts', 'verify', 'receipt.json', '--keys', 'keys.json', '--json');
    const keys = JSON.parse((await tollgate('receipts', 'keys', '--json')).out).keys as { kid: string }[];
    expect(JSON.parse(verified.out).kid).toBe(keys[2]!.kid);
    const { data } = JSON.parse((await tollgate('audit', 'list', '--json')).out);
    expect(data[0]).toMatchObject({ action: 'receipt_key.rotate', subject: keys[2]!.kid });
  });

  test('OpenSSL verifies an indented file with a proof as the page says, whichever key of the set has signed it', async () => {
    await tollgate('receipts', 'rotate-key');
    writeFileSync(join(harness.folder, 'keys.json'), (await tollgate('receipts', 'keys', '--json')).out);
    const commands = blocksOf('docs/signed-receipts.md').find(({ text }) => text.includes('openssl pkeyutl'))!.text;
    const verify = async (document: unknown): Promise<string> => {
      writeFileSync(join(harness.folder, 'receipt.json'), JSON.stringify(document, null, 2));
      const { stdout } = await run('bash', ['-c', `set -euo pipefail\n${commands}`], { cwd: harness.folder });
      return stdout;
    };
    const document = (await (await signed('&proof=true')).json()) as { payload: string };
    const [verdict, payload = ''] = (await verify(document)).split('\n');
    expect([verdict, JSON.parse(payload)]).toMatchObject(['Signature Verified Successfully', { receipt: { id } }]);
    const changed = Buffer.from(payload.replace(id, 'req_1')).toString('base64url');
    await expect(verify({ ...document, payload: changed })).rejects.toThrow();
  });

  test.each([
    ['a file that is not there', ['none.json'], EXIT.usage, 'Cannot read none.json (ENOENT)'],
    ['keys that are not there', ['receipt.json', '--keys', 'none.json'], EXIT.usage, 'Cannot read none.json (ENOENT)'],
    [
      'a wrong URL of keys',
      ['receipt.json', '--keys', 'http://x.example/keys'],
      EXIT.unreachable,
      'must begin with https',
    ],
  ])('names %s', async (_, args, code, message) => {
    expect(await tollgate('receipts', 'verify', ...args)).toMatchObject({
      code,
      err: expect.stringContaining(message),
    });
  });
});
