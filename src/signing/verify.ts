import { tryParseJson } from '../json/json.ts';
import { NotVerified, openJws, type PublicJwk } from './jws.ts';
import { openRoot, type VerifiedRoot, verifyProof } from './verify-proof.ts';

/** What a verified document says. */
export interface Verified {
  readonly kind: 'receipt' | 'refund';
  readonly kid: string;
  readonly books: string;
  readonly generation: string;
  readonly signedAt: number;
  /** Integers are strings. */
  readonly content: Readonly<Record<string, unknown>>;
  /** The root of the receipt's month, if the document has a proof that leads there. */
  readonly root: VerifiedRoot | null;
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
  const { proof, jws } = withoutProof(value);
  const { payload, key } = openJws(jws, `tollgate-${kind}`, keys);
  const { books, generation, signed_at, leaf, [kind]: content } = payload;
  if (typeof content !== 'object' || content === null)
    throw new NotVerified(`The payload has no ${kind}, although it is signed as one.`);
  const origin = { books: String(books), generation: String(generation) };
  const members = content as Record<string, unknown>;
  return {
    kind,
    kid: key.kid,
    ...origin,
    signedAt: Number(signed_at),
    content: members,
    root: proof === undefined ? null : verifyProof({ ...origin, account: members.account, leaf }, proof, keys),
  };
}

/** The proof is beside the signed parts. */
function withoutProof(value: unknown): { readonly proof: unknown; readonly jws: unknown } {
  if (typeof value !== 'object' || value === null || !('proof' in value)) return { proof: undefined, jws: value };
  const { proof, ...jws } = value;
  return { proof, jws };
}

/** The header says which of the two it is; the signature covers it. */
function kindOf(value: unknown): 'receipt' | 'refund' {
  const header = typeof value === 'object' && value !== null && 'protected' in value ? value.protected : null;
  const text = typeof header === 'string' ? Buffer.from(header, 'base64url').toString() : '';
  return text.includes('"tollgate-refund"') ? 'refund' : 'receipt';
}

/** A root that somebody kept, alone or in the proof of a receipt. Throws `NotVerified`. */
export function readRoot(text: string, keys: readonly PublicJwk[]): VerifiedRoot {
  const value = tryParseJson(text);
  const { proof } = withoutProof(value);
  const kept = typeof proof === 'object' && proof !== null && 'root' in proof ? proof.root : value;
  return openRoot(kept, keys);
}

/** The proof must lead to the root that was kept. Throws `NotVerified`. */
export function compareRoots({ root }: Verified, kept: VerifiedRoot): void {
  if (root === null) throw new NotVerified('The receipt has no proof. Ask for it with proof=true.');
  const [now, then] = [root.content, kept.content];
  if (root.books !== kept.books || now.month !== then.month)
    throw new NotVerified(
      `The root that was kept is for ${then.month} in ${kept.books}, but the proof is for ${now.month} in ${root.books}.`,
    );
  if (now.root === then.root) return;
  throw new NotVerified(
    then.final
      ? 'The proof leads to a different root from the one that was kept: receipts of this month have changed since.'
      : 'The root that was kept was signed before its month had ended, and other receipts have been added since. Keep final roots.',
  );
}
