import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import { LIMITS } from '../limits.ts';
import { isCommonPassword } from './known-passwords.ts';

/** The cost of one hash. It is stored in each hash, so that it can be raised without locking anybody out. */
const ARGON2_WORK = { memory: 19 * 1024, passes: 2, parallelism: 1 } as const;
const SCRYPT_WORK = { N: 2 ** 15, r: 8, p: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const argon2 = crypto.argon2 === undefined ? null : promisify(crypto.argon2);
const scrypt = promisify<crypto.BinaryLike, crypto.BinaryLike, number, crypto.ScryptOptions, Buffer>(crypto.scrypt);

/** Why a new password is refused, as a sentence; null if it is not. */
export function passwordFault(password: string): string | null {
  const length = [...password].length;
  if (length < LIMITS.passwordCharsMin)
    return `The password has ${length} characters. Use at least ${LIMITS.passwordCharsMin}.`;
  if (length > LIMITS.passwordCharsMax)
    return `The password has ${length} characters. Use at most ${LIMITS.passwordCharsMax}.`;
  if (isCommonPassword(password)) return 'This password is one of the most common ones. Choose another.';
  return new Set(password).size < LIMITS.passwordCharsMin / 3
    ? 'The password repeats a few characters. Choose another.'
    : null;
}

/** Argon2id, or scrypt on a Node that lacks it; the text names the algorithm, its cost, the salt and the tag. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.randomBytes(SALT_BYTES);
  if (argon2 === null) {
    const { N, r, p } = SCRYPT_WORK;
    return `$scrypt$n=${N},r=${r},p=${p}$${text(salt)}$${text(await scryptTag(password, salt, SCRYPT_WORK))}`;
  }
  const { memory, passes, parallelism } = ARGON2_WORK;
  const tag = await argon2Tag(password, salt, ARGON2_WORK);
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(tag)}`;
}

/** Without a hash it takes as long as with one, so that nobody learns from the time which addresses belong to a person. */
export async function passwordFits(password: string, hash: string | null): Promise<boolean> {
  if ([...password].length > LIMITS.passwordCharsMax) return false;
  if (hash === null) {
    await hashPassword(password);
    return false;
  }
  const { algorithm, work, salt, tag } = readHash(hash);
  const found =
    algorithm === 'argon2id'
      ? await argon2Tag(password, salt, { memory: work.m!, passes: work.t!, parallelism: work.p! })
      : await scryptTag(password, salt, { N: work.n!, r: work.r!, p: work.p! });
  return found.length === tag.length && crypto.timingSafeEqual(found, tag);
}

interface StoredHash {
  readonly algorithm: 'argon2id' | 'scrypt';
  readonly work: Readonly<Record<string, number>>;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function readHash(hash: string): StoredHash {
  const [, algorithm, ...parts] = hash.split('$');
  const [work, salt, tag] = parts.slice(-3);
  if ((algorithm !== 'argon2id' && algorithm !== 'scrypt') || tag === undefined)
    throw new Error('A stored password has an unknown format.');
  const numbers = work!.split(',').map((each) => each.split('=') as [string, string]);
  return {
    algorithm,
    work: Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)])),
    salt: Buffer.from(salt!, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

async function argon2Tag(
  password: string,
  nonce: Buffer,
  work: { readonly memory: number; readonly passes: number; readonly parallelism: number },
): Promise<Buffer> {
  if (argon2 === null)
    throw new Error('A stored password was hashed with Argon2, which this version of Node does not have.');
  const message = normalized(password);
  return Buffer.from(await argon2('argon2id', { message, nonce, tagLength: TAG_BYTES, ...work }));
}

function scryptTag(password: string, salt: Buffer, work: { N: number; r: number; p: number }): Promise<Buffer> {
  return scrypt(normalized(password), salt, TAG_BYTES, { ...work, maxmem: 256 * work.N * work.r });
}

/** The same password typed on another keyboard may have other code points. */
function normalized(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'), 'utf8');
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
