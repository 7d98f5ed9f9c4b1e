import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyReceipt } from '../../packages/client/src/verify.ts';
import { randomCases } from '../../test/random-cases.ts';
import { ManualClock } from '../kit/clock.ts';
import { leafHash } from '../kit/hash-tree.ts';
import { IdSource } from '../kit/ids.ts';
import type { AuditRow } from '../store/people.ts';
import type { ReceiptKey } from '../store/signing.ts';
import { signJws, thumbprint } from './jws.ts';
import { ReceiptKeys } from './receipt-keys.ts';
import { readKeySet, verifyDocument } from './verify.ts';
import { accountLeafText } from './verify-proof.ts';

const clock = new ManualClock(Date.UTC(2026, 10, 16));

/** Keys that are in memory, and not encrypted. */
function keysInMemory(): ReceiptKeys {
  const rows: ReceiptKey[] = [];
  return new ReceiptKeys({
    rows: { receiptKeys: async () => rows, addReceiptKey: async (key) => rows.push(key) > 0 },
    sealer: { seal: (plain) => plain, open: (sealed) => sealed },
    ids: new IdSource(clock, 1),
    clock,
  });
}

const keys = keysInMemory();
const CONTENT = { object: 'receipt', id: 'req_1', cost_nanousd: '932', labels: { team: 'ä' }, hangup_charged: false };
const PAYLOAD = { books: 'books_1', generation: '1', signed_at: String(clock.nowMs() / 1000), receipt: CONTENT };

async function signed(payload: object = PAYLOAD): Promise<string> {
  return JSON.stringify(signJws('tollgate-receipt', JSON.stringify(payload), await keys.signing(clock.nowMs())));
}

/** What the command and the client library say about the same text; they must agree. */
async function verdicts(text: string): Promise<boolean[]> {
  const set = await keys.set();
  const client = await verifyReceipt(text, set).then(
    () => true,
    () => false,
  );
  return [isVerified(() => verifyDocument(text, set.keys)), client];
}

function isVerified(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
}

test('a document fails with any single changed bit, in the command and in the client library', async () => {
  const bytes = Buffer.from(await signed());
  expect(await verdicts(bytes.toString())).toEqual([true, true]);
  const passed: number[] = [];
  const step = 8 / randomCases(8);
  for (let bit = randomInt(step); bit < bytes.length * 8; bit += step) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    if ((await verdicts(changed.toString())).includes(true)) passed.push(bit);
  }
  expect(passed).toEqual([]);
});

test.each<[string, (text: string) => string]>([
  ['a padded signature', (text) => text.replace(/"}$/, '=="}')],
  ['a further member', (text) => text.replace(/}$/, ',"more":"1"}')],
  ['no signature', (text) => text.replace(/"signature":"[^"]+"/, '"signature":""')],
  [
    'another order of the parts',
    (text) => JSON.stringify({ ...JSON.parse(text), payload: JSON.parse(text).protected }),
  ],
  ['nothing', () => ''],
  ['a list', (text) => `[${text}]`],
])('%s is refused', async (_, change) => {
  expect(await verdicts(change(await signed()))).toEqual([false, false]);
});

test('a document of another kind is refused, and one that says nothing of its kind', async () => {
  const key = await keys.signing(clock.nowMs());
  const root = JSON.stringify(signJws('tollgate-month-root', JSON.stringify(PAYLOAD), key));
  expect(await verdicts(root)).toEqual([false, false]);
  expect(await verdicts(await signed({ ...PAYLOAD, receipt: null }))).toEqual([false, false]);
  const refund = JSON.stringify(signJws('tollgate-refund', JSON.stringify(PAYLOAD), key));
  expect(await verdicts(refund)).toEqual([false, false]);
});

test.each([
  '',
  '{}',
  '{"keys":[]}',
  '{"keys":[{"kty":"RSA"}]}',
  '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"1","x":"1"}]}',
])('a key set must have Ed25519 keys with the time in which they sign: %s', (text) =>
  expect(() => readKeySet(text)).toThrow('The key set must be a JWK set'),
);

test('a proof must lead to a root of the same ledger and generation', async () => {
  const key = await keys.signing(clock.nowMs());
  const salt = 'ab'.repeat(32);
  const leaf = 'cd'.repeat(32);
  const account = { month: '2026-10', receipts: '1', spent_nanousd: '932' };
  const documentWith = (origin: object, given: Partial<typeof account> = {}): string => {
    const claimed = { ...account, ...given };
    const text = accountLeafText({ books: 'books_1', account: 'acct_1', ...claimed, root: leaf, salt });
    const top = Buffer.from(leafHash(text), 'latin1').toString('hex');
    const content = { number: '1', month: '2026-10', final: true, root: top, previous: null };
    const { books, generation, signed_at } = PAYLOAD;
    const root = JSON.stringify({ books, generation, signed_at, ...origin, root: content });
    const payload = JSON.stringify({ ...PAYLOAD, receipt: { ...CONTENT, account: 'acct_1' }, leaf });
    const signedRoot = signJws('tollgate-month-root', root, key);
    const proof = { ...claimed, salt, receipt_path: [], account_path: [], root: signedRoot };
    return JSON.stringify({ ...signJws('tollgate-receipt', payload, key), proof });
  };
  expect(await verdicts(documentWith({}))).toEqual([true, true]);
  expect(await verdicts(documentWith({ generation: '2' }))).toEqual([false, false]);
  expect(await verdicts(documentWith({ books: 'books_2' }))).toEqual([false, false]);
  // The same leaf could be read as that of another tree, whose root is in this text.
  const twofold = { receipts: `1\nspent_nanousd=5\nroot=${'ef'.repeat(32)}\nsalt=12` };
  expect(await verdicts(documentWith({}, twofold))).toEqual([false, false]);
});

test('nothing is signed while the clock is behind the time of the first key, until a new key is made', async () => {
  const own = keysInMemory();
  await own.ensure();
  const earlierMs = clock.nowMs() - 5_000;
  await expect(own.signing(earlierMs)).rejects.toMatchObject({ code: 'receipt_not_signed' });
  await own.rotate(earlierMs, true, () => ({}) as AuditRow);
  const signature = signJws('tollgate-receipt', JSON.stringify(PAYLOAD), await own.signing(earlierMs));
  expect(verifyDocument(JSON.stringify(signature), (await own.set()).keys)).toMatchObject({ kind: 'receipt' });
});

test('a key set in which a key has the id of another one, or is no key, verifies nothing', async () => {
  const text = await signed();
  const [key] = (await keys.set()).keys;
  const other = (await keysInMemory().set()).keys[0]!;
  for (const x of [other.x, 'AAAA']) {
    const set = { keys: [{ ...key!, x }] };
    expect(() => verifyDocument(text, set.keys)).toThrow('The key set is invalid');
    await expect(verifyReceipt(text, set)).rejects.toThrow('The key set is invalid');
  }
  const short = { keys: [{ ...key!, x: 'AAAA', kid: thumbprint('AAAA') }] };
  const named = JSON.stringify({ ...JSON.parse(text), protected: header(short.keys[0]!.kid) });
  expect(() => verifyDocument(named, short.keys)).toThrow('is not an Ed25519 key');
  await expect(verifyReceipt(named, short)).rejects.toThrow('is not an Ed25519 key');
});

function header(kid: string): string {
  return Buffer.from(JSON.stringify({ alg: 'EdDSA', kid, typ: 'tollgate-receipt' })).toString('base64url');
}
