import { isObject, type JsonObject, tryParse } from './json.ts';

/** The key set of a gateway: `GET /.well-known/tollgate-receipt-keys.json`. */
export interface ReceiptKeys {
  readonly keys: readonly ReceiptKey[];
}

export interface ReceiptKey {
  readonly kty: string;
  readonly crv: string;
  readonly kid: string;
  readonly x: string;
  /** When the key began and ceased to sign, in seconds since 1970. */
  readonly nbf: number;
  readonly exp?: number;
}

/** What a signed document says. Every integer in the content is a text. */
export interface VerifiedReceipt {
  readonly kind: 'receipt' | 'refund';
  readonly kid: string;
  readonly books: string;
  readonly generation: string;
  /** Seconds since 1970. */
  readonly signedAt: number;
  /** The receipt or the refund. */
  readonly content: JsonObject;
  /** The signed root of the receipt's month, if the document has a proof that leads there. */
  readonly root?: VerifiedRoot;
}

/** Keep it: as long as a proof leads to the same `root`, the receipt is what it was when its month was closed. */
export interface VerifiedRoot {
  readonly number: string;
  readonly month: string;
  /** Whether the month has ended, so that its root does not change any more. */
  readonly final: boolean;
  readonly root: string;
  /** The SHA-256 hash of the payload of the root before it. */
  readonly previous: string | null;
}

const NOT_SIGNED = 'A signed document has the texts payload, protected and signature.';

/** The document is not what a gateway with these keys signed. */
export class NotVerifiedError extends Error {
  override readonly name = 'NotVerifiedError';
}

/**
 * Checks a signed receipt or refund, as text or parsed, with the gateway's key set. Nothing is sent anywhere. Rejects with
 * a `NotVerifiedError`.
 */
export async function verifyReceipt(envelope: unknown, keys: ReceiptKeys): Promise<VerifiedReceipt> {
  const given = typeof envelope === 'string' ? tryParse(envelope) : envelope;
  if (!isObject(given)) throw new NotVerifiedError(NOT_SIGNED);
  const { proof, ...jws } = given;
  const { payload, key, type } = await openJws(jws, keys);
  const kind = type === 'tollgate-refund' ? 'refund' : 'receipt';
  const content = payload[kind];
  if (type !== `tollgate-${kind}` || !isObject(content))
    throw new NotVerifiedError('This is neither a receipt nor a refund.');
  const { books, generation, signed_at } = payload;
  return {
    kind,
    kid: key.kid,
    books: String(books),
    generation: String(generation),
    signedAt: Number(signed_at),
    content,
    ...(proof !== undefined && { root: await checkProof(payload, content, proof, keys) }),
  };
}

const PROOF = 'account_path,month,receipt_path,receipts,root,salt,spent_nanousd';
const STEP_WRONG = 'A member or step of the proof is wrong.';

/** Hashes the receipt's leaf, and then its account, up to the signed root of the month. */
async function checkProof(
  { books, generation, leaf }: JsonObject,
  { account }: JsonObject,
  proof: unknown,
  keys: ReceiptKeys,
): Promise<VerifiedRoot> {
  if (!isObject(proof) || Object.keys(proof).sort().join() !== PROOF || !isObject(proof.root))
    throw new NotVerifiedError(STEP_WRONG);
  const { type, payload } = await openJws(proof.root, keys);
  const root = payload.root as unknown as VerifiedRoot;
  if (
    type !== 'tollgate-month-root' ||
    !isObject(root) ||
    payload.books !== books ||
    payload.generation !== generation ||
    root.month !== proof.month
  )
    throw new NotVerifiedError('The root is of another ledger, generation or month.');
  const { month, receipts, spent_nanousd, salt } = proof;
  const accountRoot = hexOf(await follow(fromHex(leaf), proof.receipt_path));
  const values = { books, month, account, receipts, spent_nanousd, root: accountRoot, salt };
  const lines = Object.entries(values).map(([name, value]) => `\n${name}=${String(value)}`);
  const accountLeaf = await sha256([0], new TextEncoder().encode(`tollgate-account 1${lines.join('')}`));
  if (hexOf(await follow(accountLeaf, proof.account_path)) !== root.root)
    throw new NotVerifiedError(
      'The proof does not lead to the root: the receipt is not what it was when it was closed.',
    );
  return root;
}

async function follow(leaf: Uint8Array, path: unknown): Promise<Uint8Array> {
  if (!Array.isArray(path)) throw new NotVerifiedError(STEP_WRONG);
  let hash = leaf;
  for (const step of path as unknown[]) {
    const [side, ...others] = isObject(step) ? Object.keys(step) : [];
    if (others.length > 0 || (side !== 'left' && side !== 'right')) throw new NotVerifiedError(STEP_WRONG);
    const other = fromHex((step as JsonObject)[side]);
    hash = side === 'left' ? await sha256([1], other, hash) : await sha256([1], hash, other);
  }
  return hash;
}

async function sha256(...parts: readonly ArrayLike<number>[]): Promise<Uint8Array> {
  const bytes = Uint8Array.from(parts.flatMap((part) => Array.from(part)));
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

function fromHex(value: unknown): Uint8Array {
  if (!isText(value) || !/^[0-9a-f]{64}$/.test(value)) throw new NotVerifiedError(STEP_WRONG);
  return Uint8Array.from(value.match(/../g)!, (byte) => Number.parseInt(byte, 16));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface Opened {
  readonly type: unknown;
  readonly payload: JsonObject;
  readonly key: ReceiptKey;
}

async function openJws(jws: JsonObject, { keys }: ReceiptKeys): Promise<Opened> {
  const { payload, protected: header, signature } = jws;
  const names = Object.keys(jws).sort().join();
  if (names !== 'payload,protected,signature' || !isText(payload) || !isText(header) || !isText(signature))
    throw new NotVerifiedError(NOT_SIGNED);
  const { alg, kid, typ, ...others } = parse(header, 'protected header');
  if (alg !== 'EdDSA' || Object.keys(others).length > 0) throw new NotVerifiedError('The protected header is wrong.');
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new NotVerifiedError(`The key ${String(kid)} is not in the key set.`);
  const input = new TextEncoder().encode(`${header}.${payload}`);
  const imported = await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x: key.x }, 'Ed25519', false, [
    'verify',
  ]);
  const isRight = await crypto.subtle.verify('Ed25519', imported, bytesOf(signature, 'signature'), input);
  if (!isRight)
    throw new NotVerifiedError('The signature is wrong: the content was changed, or another key signed it.');
  const content = parse(payload, 'payload');
  const signedAt = Number(content.signed_at);
  if (!(signedAt >= key.nbf && signedAt <= (key.exp ?? Number.MAX_SAFE_INTEGER)))
    throw new NotVerifiedError(`The key ${key.kid} did not sign at the time that the document says.`);
  return { type: typ, payload: content, key };
}

function parse(text: string, what: string): JsonObject {
  const value = tryParse(new TextDecoder().decode(bytesOf(text, what)));
  if (!isObject(value)) throw new NotVerifiedError(`The ${what} is not a JSON object.`);
  return value;
}

/** The only spelling of some bytes in base64url, so that no character can be changed unnoticed. */
const BASE64URL = /^([\w-]{4})*([\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

function bytesOf(text: string, what: string): Uint8Array<ArrayBuffer> {
  if (!BASE64URL.test(text)) throw new NotVerifiedError(`The ${what} is not base64url.`);
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
