import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReceiptKeys, verifyReceipt } from '../packages/client/src/verify.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { runCli } from '../src/cli/run.ts';
import { systemClock } from '../src/kit/clock.ts';
import { compose } from '../src/main/compose.ts';
import type { CliRun } from './cli-fixture.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

const HELLO = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
const KEY_SET = '/.well-known/tollgate-receipt-keys.json';

let harness: Harness;
let caller: MintedKey;
let id: string;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  caller = await harness.mint({ creditNanousd: 1_000_000_000n });
  const answer = await harness.post(HELLO, withKey());
  id = answer.headers.get('x-gateway-request-id')!;
  await answer.text();
});
afterAll(() => harness.stop());

function withKey({ secret } = caller): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

async function tollgate(...args: string[]): Promise<CliRun> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { writeOut: (text: string) => void out.push(text), writeErr: (text: string) => void err.push(text) };
  const composition = compose({ program: 'tollgate', terminal, cwd: harness.folder, clock: systemClock });
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

  test.each(['yes', 'True', '1', '', 'false', 'true&signed=true'])(
    'refuses signed=%s, naming the field',
    async (value) => {
      const answer = await harness.get(`/v1/receipts/${id}?signed=${value}`, withKey());
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        {
          error: { code: 'invalid_value', param: 'signed', message: '`signed` must be `true`, once, or be left out.' },
        },
      ]);
    },
  );

  test('signs no receipt of another account', async () => {
    const stranger = await harness.mint();
    const answer = await harness.get(`/v1/receipts/${id}?signed=true`, withKey(stranger));
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'receipt_not_found' } }]);
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
