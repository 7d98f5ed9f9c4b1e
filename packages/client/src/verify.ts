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
  const given = typeof envelope === 'string' ? tryParse(envelope) : envelope;
  if (!isObject(given)) throw new NotVerifiedError('This is not a signed document.');
  const { payload, key, type } = await openJws(given, keys);
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
  };
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
    throw new NotVerifiedError('A signed document has the texts payload, protected and signature, and nothing else.');
  const { alg, kid, typ, ...others } = parse(header, 'protected header');
  if (alg !== 'EdDSA' || Object.keys(others).length > 0)
    throw new NotVerifiedError('The protected header must have the algorithm EdDSA, a key id and a type only.');
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) throw new NotVerifiedError(`The key ${String(kid)} is not in the key set.`);
  const input = new TextEncoder().encode(`${header}.${payload}`);
  const isRight = await crypto.subtle.verify('Ed25519', await importKey(key), bytesOf(signature, 'signature'), input);
  if (!isRight)
    throw new NotVerifiedError('The signature is wrong: the content was changed, or another key signed it.');
  const content = parse(payload, 'payload');
  const signedAt = Number(content.signed_at);
  if (!(signedAt >= key.nbf && signedAt <= (key.exp ?? Number.MAX_SAFE_INTEGER)))
    throw new NotVerifiedError(`The key ${key.kid} did not sign at the time that the document says.`);
  return { type: typ, payload: content, key };
}

/** The id of a key is its thumbprint (RFC 7638). */
async function importKey({ kid, x }: ReceiptKey) {
  const jwk = { crv: 'Ed25519', kty: 'OKP', x };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(jwk)));
  if (base64url(new Uint8Array(digest)) !== kid)
    throw new NotVerifiedError(`The key set is wrong: ${kid} is another key.`);
  return crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
}

function parse(text: string, what: string): JsonObject {
  const value = tryParse(new TextDecoder().decode(bytesOf(text, what)));
  if (!isObject(value)) throw new NotVerifiedError(`The ${what} is not a JSON object.`);
  return value;
}

/** Refuses any spelling of the bytes but one, so that no character can be changed unnoticed. */
function bytesOf(text: string, what: string): Uint8Array<ArrayBuffer> {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    if (base64url(bytes) === text) return bytes;
  } catch {
    // Not base64.
  }
  throw new NotVerifiedError(`The ${what} is not base64url.`);
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
