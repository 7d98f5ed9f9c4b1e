import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes } from 'node:crypto';

/** Must be the same, in the same order, when decrypting as when encrypting. It is not secret, and not stored here. */
export type Associated = readonly string[];

/** Encrypts bytes so that only this gateway can decrypt them, and only with the same associated values. */
export interface Sealer {
  seal(plain: Uint8Array, associated: Associated): Uint8Array;
  /** Null if it cannot be decrypted: it was changed, belongs to another row, or is under an unknown key. */
  open(sealed: Uint8Array, associated: Associated): Uint8Array | null;
}

/** 32 random bytes, and the id by which encrypted rows refer to them. */
interface MasterKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** At least one. The first encrypts, all decrypt. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

const VERSION = 1;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const SALT_BYTES = 24;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * version 1 | master key id 8 | salt 24 | wrapped data key 32 + 16 | nonce 12 | ciphertext n | tag 16
 * A new master key replaces only the head, which ends with the wrapped data key.
 */
const KEY_ID_AT = 1;
const SALT_AT = KEY_ID_AT + KEY_ID_BYTES;
const WRAPPED_AT = SALT_AT + SALT_BYTES;
const NONCE_AT = WRAPPED_AT + KEY_BYTES + TAG_BYTES;
const TEXT_AT = NONCE_AT + NONCE_BYTES;

export const SEAL_OVERHEAD_BYTES = TEXT_AT + TAG_BYTES;

export function masterKey(bytes: Uint8Array): MasterKey {
  if (bytes.length !== KEY_BYTES) throw new RangeError(`A master key has ${KEY_BYTES} bytes.`);
  const id = derive(bytes, 'tollgate master key id').subarray(0, KEY_ID_BYTES).toString('hex');
  return { id, bytes };
}

/** AES-256-GCM with a data key for every row. The data key is encrypted under a master key, which can be changed. */
export class MasterSealer implements Sealer {
  #keys: MasterKeys;

  constructor(keys: MasterKeys) {
    this.#keys = keys;
  }

  /** From now on the first of these encrypts, and only these decrypt. */
  useKeys(keys: MasterKeys): void {
    this.#keys = keys;
  }

  get keyId(): string {
    return this.#keys[0].id;
  }

  get keys(): MasterKeys {
    return this.#keys;
  }

  get keyIds(): string[] {
    return this.#keys.map(({ id }) => id);
  }

  seal(plain: Uint8Array, associated: Associated): Uint8Array {
    const bound = encode(associated);
    const random = randomBytes(KEY_BYTES + NONCE_BYTES);
    const [dataKey, nonce] = [random.subarray(0, KEY_BYTES), random.subarray(KEY_BYTES)];
    return Buffer.concat([wrap(this.#keys[0], dataKey, bound), nonce, encrypt(dataKey, nonce, bound, plain)]);
  }

  open(sealed: Uint8Array, associated: Associated): Uint8Array | null {
    const bound = encode(associated);
    const dataKey = this.#unwrap(sealed, bound);
    if (dataKey === null) return null;
    return decrypt(dataKey, sealed.subarray(NONCE_AT, TEXT_AT), bound, sealed.subarray(TEXT_AT));
  }

  /** The same content under the first master key; null if it cannot be decrypted. */
  rewrap(sealed: Uint8Array, associated: Associated): Uint8Array | null {
    const bound = encode(associated);
    const dataKey = this.open(sealed, associated) === null ? null : this.#unwrap(sealed, bound);
    return dataKey === null ? null : Buffer.concat([wrap(this.#keys[0], dataKey, bound), sealed.subarray(NONCE_AT)]);
  }

  #unwrap(sealed: Uint8Array, bound: Buffer): Buffer | null {
    const id = sealedUnder(sealed);
    const key = this.#keys.find((one) => one.id === id);
    if (key === undefined) return null;
    const head = sealed.subarray(0, WRAPPED_AT);
    const wrappingKey = derive(key.bytes, 'tollgate wrapping key', sealed.subarray(SALT_AT, WRAPPED_AT));
    return decrypt(wrappingKey, NO_NONCE, Buffer.concat([head, bound]), sealed.subarray(WRAPPED_AT, NONCE_AT));
  }
}

/** The id of the master key that was used; null for an unknown format. */
export function sealedUnder(sealed: Uint8Array): string | null {
  if (sealed.length < SEAL_OVERHEAD_BYTES || sealed[0] !== VERSION) return null;
  return Buffer.from(sealed.subarray(KEY_ID_AT, SALT_AT)).toString('hex');
}

/** Every wrapping key is used once, because its salt is random. So its nonce may be constant. */
const NO_NONCE = Buffer.alloc(NONCE_BYTES);

/** The master key only derives wrapping keys, so the number of rows is not limited by how often AES-GCM may use one key. */
function wrap(master: MasterKey, dataKey: Buffer, bound: Buffer): Buffer {
  const salt = randomBytes(SALT_BYTES);
  const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(master.id, 'hex'), salt]);
  const wrappingKey = derive(master.bytes, 'tollgate wrapping key', salt);
  return Buffer.concat([head, encrypt(wrappingKey, NO_NONCE, Buffer.concat([head, bound]), dataKey)]);
}

function derive(master: Uint8Array, purpose: string, salt: Uint8Array = NO_NONCE): Buffer {
  return createHmac('sha256', createSecretKey(master)).update(`${purpose}\n`).update(salt).digest();
}

/*
 * Node takes a key object five times as fast as the bytes of a key, the making of the object included: 11 instead of 50
 * microseconds for a small content. Sealing the lines of a group consists mostly of this.
 */

function encrypt(key: Uint8Array, nonce: Uint8Array, bound: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, createSecretKey(key), nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, nonce: Uint8Array, bound: Uint8Array, sealed: Uint8Array): Buffer | null {
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, createSecretKey(key), nonce, { authTagLength: TAG_BYTES })
    .setAAD(bound)
    .setAuthTag(sealed.subarray(tagAt));
  const plain = decipher.update(sealed.subarray(0, tagAt));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return null;
  }
}

/** Each part follows its length, so no two lists have the same bytes. */
function encode(associated: Associated): Buffer {
  return Buffer.concat(
    associated.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
