import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { tryParseJson } from '../json/json.ts';
import { fromBase64url, toBase64url } from '../kit/base64url.ts';

/** A JWS in the flattened JSON serialization (RFC 7515, section 7.2.2). */
export interface Jws {
  readonly payload: string;
  readonly protected: string;
  readonly signature: string;
}

/** What is signed; the type is in the protected header, so that one kind cannot be passed off as another. */
type SignedType = 'tollgate-receipt' | 'tollgate-refund' | 'tollgate-month-root';

/** A public key as in RFC 8037, with the time in which it signs in seconds since 1970. */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly kid: string;
  readonly x: string;
  readonly nbf: number;
  /** Absent for the key that signs now, or will sign next. */
  readonly exp?: number;
}

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** Why something is not verified, in one sentence. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified';
}

/** The id of a key is its thumbprint (RFC 7638), so that it cannot name another key. */
export function thumbprint(x: string): string {
  return createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
}

export function privateKeyOf(seed: Uint8Array, publicKey: Uint8Array): KeyObject {
  const key = { kty: 'OKP', crv: 'Ed25519', d: toBase64url(seed), x: toBase64url(publicKey) };
  return createPrivateKey({ key, format: 'jwk' });
}

export function signJws(type: SignedType, payload: string, { kid, privateKey }: SigningKey): Jws {
  const parts = {
    payload: toBase64url(payload),
    protected: toBase64url(JSON.stringify({ alg: 'EdDSA', kid, typ: type })),
  };
  return { ...parts, signature: toBase64url(sign(null, signingInput(parts), privateKey)) };
}

function signingInput(parts: Pick<Jws, 'payload' | 'protected'>): Buffer {
  return Buffer.from(`${parts.protected}.${parts.payload}`);
}

interface OpenedJws {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly payloadText: string;
  readonly key: PublicJwk;
}

const MEMBERS = ['payload', 'protected', 'signature'];

/** Checks signature, type, key and the time of signing. Throws `NotVerified`. */
export function openJws(value: unknown, type: SignedType, keys: readonly PublicJwk[]): OpenedJws {
  const jws = readJws(value);
  const header = readObject(decode(jws.protected), 'protected header');
  if (Object.keys(header).sort().join() !== 'alg,kid,typ' || header.alg !== 'EdDSA')
    throw new NotVerified('The protected header must have the algorithm EdDSA, a key id and a type, and nothing else.');
  if (header.typ !== type)
    throw new NotVerified(`This is signed as "${shown(header.typ)}", but a ${type} is needed here.`);
  const key = keys.find(({ kid }) => kid === header.kid);
  if (key === undefined)
    throw new NotVerified(`The key ${shown(header.kid)} is not in the key set. Use the key set of this gateway.`);
  const signature = fromBase64url(jws.signature);
  if (signature === null || !verify(null, signingInput(jws), publicKeyOf(key), signature))
    throw new NotVerified('The signature is wrong: the content was changed, or another key signed it.');
  const payloadText = decode(jws.payload);
  const payload = readObject(payloadText, 'payload');
  checkTime(payload, key);
  return { payload, payloadText, key };
}

function readJws(value: unknown): Jws {
  const members = typeof value === 'object' && value !== null ? Object.keys(value).sort() : [];
  const jws = value as Jws;
  if (members.join() === MEMBERS.join() && MEMBERS.every((name) => typeof jws[name as keyof Jws] === 'string'))
    return jws;
  throw new NotVerified('This is not a signed document: it must have the strings payload, protected and signature.');
}

/** Empty if the text is not base64url. */
function decode(base64url: string): string {
  return fromBase64url(base64url)?.toString() ?? '';
}

function readObject(text: string, what: string): Readonly<Record<string, unknown>> {
  const value = tryParseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new NotVerified(`The ${what} is not a JSON object in base64url.`);
}

function publicKeyOf({ kty, crv, x, kid }: PublicJwk): KeyObject {
  if (thumbprint(x) !== kid) throw new NotVerified(`The key set is invalid: its key ${kid} has the id of another key.`);
  try {
    return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  } catch {
    throw new NotVerified(`The key set is invalid: ${kid} is not an Ed25519 key.`);
  }
}

/** A key that was replaced signs nothing new. */
function checkTime(payload: Readonly<Record<string, unknown>>, { kid, nbf, exp }: PublicJwk): void {
  const signedAt = Number(payload.signed_at);
  if (signedAt >= nbf && signedAt <= (exp ?? Number.MAX_SAFE_INTEGER)) return;
  throw new NotVerified(`The key ${kid} did not sign at the time that the document says it was signed.`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 64) : 'unknown';
}
