import { tryParseJson } from '../json/json.ts';
import { NotVerified, openJws, type PublicJwk } from './jws.ts';

/** What a verified document says. */
export interface Verified {
  readonly kind: 'receipt' | 'refund';
  readonly kid: string;
  readonly books: string;
  readonly generation: string;
  readonly signedAt: number;
  /** Integers are texts. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** Reads a key set. Throws `NotVerified`. */
export function readKeySet(text: string): PublicJwk[] {
  const value = tryParseJson(text);
  const keys = typeof value === 'object' && value !== null && 'keys' in value ? value.keys : null;
  if (Array.isArray(keys) && keys.length > 0 && keys.every(isKey)) return keys;
  throw new NotVerified('The key set must be a JWK set with Ed25519 keys, as /.well-known/tollgate-receipt-keys.json.');
}

function isKey(value: unknown): value is PublicJwk {
  if (typeof value !== 'object' || value === null) return false;
  const { kty, crv, kid, x, nbf, exp } = value as Partial<PublicJwk>;
  const isTime = (time: unknown): boolean => Number.isSafeInteger(time);
  const isOkp = kty === 'OKP' && crv === 'Ed25519' && typeof kid === 'string' && typeof x === 'string';
  return isOkp && isTime(nbf) && (exp === undefined || isTime(exp));
}

/** Checks a signed receipt or refund without any connection. Throws `NotVerified`. */
export function verifyDocument(text: string, keys: readonly PublicJwk[]): Verified {
  const value = tryParseJson(text);
  const kind = kindOf(value);
  const { payload, key } = openJws(value, `tollgate-${kind}`, keys);
  const { books, generation, signed_at, [kind]: content } = payload;
  if (typeof content !== 'object' || content === null)
    throw new NotVerified(`The payload has no ${kind}, although it is signed as one.`);
  return {
    kind,
    kid: key.kid,
    books: String(books),
    generation: String(generation),
    signedAt: Number(signed_at),
    content: content as Record<string, unknown>,
  };
}

/** The header says which of the two it is; the signature covers it. */
function kindOf(value: unknown): 'receipt' | 'refund' {
  const header = typeof value === 'object' && value !== null && 'protected' in value ? value.protected : null;
  const text = typeof header === 'string' ? Buffer.from(header, 'base64url').toString() : '';
  return text.includes('"tollgate-refund"') ? 'refund' : 'receipt';
}
