import { isObject, isText, type JsonObject, tryParse } from './json.ts';

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

/** What a signed document says. Every integer in the content is a string. */
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
  /** Whether the month has ended, so that its root no longer changes. */
  readonly final: boolean;
  readonly root: string;
  /** The SHA-256 hash of the payload of the previous root. */
  readonly previous: string | null;
}

/** The document is not what a gateway with these keys signed. */
export class NotVerifiedError extends Error {
  override readonly name = 'NotVerifiedError';
}

/**
 * Checks a signed receipt or refund, as text or parsed, with the gateway's key set. Nothing is sent anywhere. Rejects with
 * a `NotVerifiedError`.
 */
export async function verifyReceipt(envelope: unknown, keys: ReceiptKeys): Promise<VerifiedReceipt> {
  const given = isText(envelope) ? tryParse(envelope) : envelope;
  const { proof, ...jws } = isObject(given) ? given : {};
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
  if (!isObject(proof) || namesOf(proof) !== PROOF) throw new NotVerifiedError(STEP_WRONG);
  const { type, payload } = await openJws(proof.root, keys);
  const root = payload.root as unknown as VerifiedRoot;
  const isOfReceipt = payload.books === books && payload.generation === generation && isObject(root);
  if (type !== 'tollgate-month-root' || !isOfReceipt || root.month !== proof.month)
    throw new NotVerifiedError('The root belongs to another ledger, generation or month.');
  const { month, receipts, spent_nanousd, salt } = proof;
  // A value with line feeds could contain the lines after it, and one leaf could be read in two ways.
  if (!/^[\w,-]+$/.test(String([month, receipts, spent_nanousd, salt]))) throw new NotVerifiedError(STEP_WRONG);
  const accountRoot = await follow(leaf, proof.receipt_path);
  const values = { books, month, account, receipts, spent_nanousd, root: accountRoot, salt };
  const lines = Object.entries(values).map(([name, value]) => `\n${name}=${String(value)}`);
  const accountLeaf = await sha256(`00${hexOf(utf8(`tollgate-account 1${lines.join('')}`))}`);
  if ((await follow(accountLeaf, proof.account_path)) !== root.root)
    throw new NotVerifiedError(
      'The proof does not lead to the root: the receipt is not what it was when it was closed.',
    );
  return root;
}

/** Hashes are hexadecimal throughout. */
async function follow(leaf: unknown, path: unknown): Promise<string> {
  if (!Array.isArray(path)) throw new NotVerifiedError(STEP_WRONG);
  let hash = checkHash(leaf);
  for (const step of path as unknown[]) {
    const side = isObject(step) && namesOf(step);
    if (side !== 'left' && side !== 'right') throw new NotVerifiedError(STEP_WRONG);
    const other = checkHash((step as JsonObject)[side]);
    hash = await sha256(side === 'left' ? `01${other}${hash}` : `01${hash}${other}`);
  }
  return hash;
}

function checkHash(value: unknown): string {
  if (!isText(value) || !/^[0-9a-f]{64}$/.test(value)) throw new NotVerifiedError(STEP_WRONG);
  return value;
}

async function sha256(hex: string): Promise<string> {
  const bytes = Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface Opened {
  readonly type: unknown;
  readonly payload: JsonObject;
  readonly key: ReceiptKey;
}

async function openJws(jws: unknown, { keys }: ReceiptKeys): Promise<Opened> {
  if (!isObject(jws) || namesOf(jws) !== 'payload,protected,signature' || !Object.values(jws).every(isText))
    throw new NotVerifiedError('A signed document must have the strings payload, protected and signature.');
  const { payload, protected: header, signature } = jws as Record<string, string>;
  const { alg, kid, typ, ...others } = parse(header!, 'protected header');
  if (alg !== 'EdDSA' || namesOf(others) !== '') throw new NotVerifiedError('The protected header is wrong.');
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new NotVerifiedError(`The key ${String(kid)} is not in the key set.`);
  const input = utf8(`${header}.${payload}`);
  if (!(await crypto.subtle.verify('Ed25519', await imported(key), bytesOf(signature!, 'signature'), input)))
    throw new NotVerifiedError('The signature is wrong: the content was changed, or another key signed it.');
  const content = parse(payload!, 'payload');
  const signedAt = Number(content.signed_at);
  if (!(signedAt >= key.nbf && signedAt <= (key.exp ?? Number.MAX_SAFE_INTEGER)))
    throw new NotVerifiedError(`The key ${key.kid} did not sign at the time that the document says.`);
  return { type: typ, payload: content, key };
}

/** The id of a key is its thumbprint (RFC 7638), so that it cannot name another key. */
async function imported({ kid, x }: ReceiptKey) {
  const jwk = { crv: 'Ed25519', kty: 'OKP', x };
  const isOwnId = (await sha256(hexOf(utf8(JSON.stringify(jwk))))) === hexOf(bytesOf(kid, 'key id'));
  const key = isOwnId && (await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']).catch(() => null));
  if (!key) throw new NotVerifiedError(`The key set is invalid: ${kid} is not an Ed25519 key.`);
  return key;
}

/** The names of all members, in order. */
function namesOf(value: JsonObject): string {
  return Object.keys(value).sort().join();
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
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
