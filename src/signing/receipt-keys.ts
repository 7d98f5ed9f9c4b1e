import { generateKeyPairSync } from 'node:crypto';
import { GatewayError } from '../canonical/errors.ts';
import { fromBase64url, toBase64url } from '../kit/base64url.ts';
import type { Clock } from '../kit/clock.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import type { AuditRow } from '../store/people.ts';
import type { ReceiptKey } from '../store/signing.ts';
import { type PublicJwk, privateKeyOf, type SigningKey, thumbprint } from './jws.ts';

/** Encrypts bytes so that only this gateway can decrypt them, and only with the same associated values. */
interface KeySealer {
  seal(plain: Uint8Array, associated: readonly string[]): Uint8Array;
  open(sealed: Uint8Array, associated: readonly string[]): Uint8Array | null;
}

export interface ReceiptKeyTerms {
  readonly rows: Pick<Directory, 'receiptKeys' | 'addReceiptKey'>;
  readonly sealer: KeySealer;
  readonly ids: { next(): bigint };
  readonly clock: Clock;
}

/** A JWK set (RFC 7517). */
export interface JwkSet {
  readonly keys: readonly PublicJwk[];
}

type Rotation = { readonly kind: 'rotated'; readonly keys: JwkSet } | { readonly kind: 'pending' | 'too_many' };

/** What a key's encryption is bound to: copied to another row, or beside another public key, it cannot be decrypted. */
export function receiptKeyPlace({ id, publicKey }: Pick<ReceiptKey, 'id' | 'publicKey'>): readonly string[] {
  return ['receipt key', String(id), Buffer.from(publicKey).toString('hex')];
}

/** The keys that sign receipts. All processes of a ledger share them, so they are read from it each time. */
export class ReceiptKeys {
  readonly #terms: ReceiptKeyTerms;
  /** The decrypted key that was used last. */
  #opened: SigningKey | null = null;

  constructor(terms: ReceiptKeyTerms) {
    this.#terms = terms;
  }

  /** Makes the first key if there is none. */
  async ensure(): Promise<readonly ReceiptKey[]> {
    const { rows } = this.#terms;
    const found = await rows.receiptKeys();
    if (found.length > 0) return found;
    // If another process is faster, its key counts.
    await rows.addReceiptKey(this.#make(1, this.#terms.clock.nowMs()), null);
    return rows.receiptKeys();
  }

  async set(): Promise<JwkSet> {
    return jwkSet(await this.ensure());
  }

  /**
   * The key that signs at this time. Without one nothing is signed: nobody could verify a document that claims to be
   * older than its key.
   */
  async signing(nowMs: number): Promise<SigningKey> {
    const keys = await this.ensure();
    const current = keys.findLast(({ fromMs }) => fromMs <= nowMs);
    if (current === undefined) throw beforeItsTime();
    const kid = thumbprint(toBase64url(current.publicKey));
    if (this.#opened?.kid === kid) return this.#opened;
    const seed = this.#terms.sealer.open(current.sealed, receiptKeyPlace(current));
    if (seed === null) throw unreadable();
    this.#opened = { kid, privateKey: privateKeyOf(seed, current.publicKey) };
    return this.#opened;
  }

  /** Adds a key that signs from that time on. Everybody who keeps a key set must have read the new one by then. */
  async rotate(fromMs: number, isUrgent: boolean, audit: (kid: string) => AuditRow): Promise<Rotation> {
    const { rows, clock } = this.#terms;
    const keys = await this.ensure();
    if (keys.length >= LIMITS.receiptKeysMax) return { kind: 'too_many' };
    if (!isUrgent && keys.at(-1)!.fromMs > clock.nowMs()) return { kind: 'pending' };
    const made = this.#make(keys.at(-1)!.number + 1, fromMs);
    const isAdded = await rows.addReceiptKey(made, audit(thumbprint(toBase64url(made.publicKey))));
    return isAdded ? { kind: 'rotated', keys: await this.set() } : { kind: 'pending' };
  }

  #make(number: number, fromMs: number): ReceiptKey {
    const { sealer, ids, clock } = this.#terms;
    const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    const place = { id: ids.next(), publicKey: fromBase64url(x!)! };
    const sealed = sealer.seal(fromBase64url(d!)!, receiptKeyPlace(place));
    return { number, ...place, sealed, createdMs: clock.nowMs(), fromMs };
  }
}

/** A key signs until one with a higher number does. */
export function jwkSet(keys: readonly ReceiptKey[]): JwkSet {
  return {
    keys: keys.map(({ publicKey, fromMs }, at) => {
      const x = toBase64url(publicKey);
      const ends = keys.slice(at + 1).map((later) => later.fromMs);
      const range = { nbf: toSeconds(fromMs), ...(ends.length > 0 && { exp: toSeconds(Math.min(...ends)) }) };
      return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: thumbprint(x), x, ...range };
    }),
  };
}

function beforeItsTime(): GatewayError {
  return new GatewayError('receipt_not_signed', {
    message:
      'The clock of the gateway is behind the time at which the key that signs receipts was made. The operator of this gateway can correct the clock, or make a new key with "tollgate receipts rotate-key --now".',
  });
}

function unreadable(): GatewayError {
  return new GatewayError('receipt_not_signed', {
    message:
      'The key that signs receipts cannot be decrypted: its master key is missing. The operator of this gateway can add that master key after the others, or make a new key with "tollgate receipts rotate-key --now".',
  });
}
