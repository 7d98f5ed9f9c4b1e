import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { type MasterKeys, masterKey } from './seal.ts';

/** Where the master keys come from; `source` is what people call it. */
export type MasterKeySource =
  /** A file of our own in the data folder, made when it is first needed. */
  | { readonly kind: 'own-file'; readonly path: string; readonly source: string }
  | { readonly kind: 'text'; readonly text: Secret; readonly source: string }
  | { readonly kind: 'file'; readonly path: string; readonly source: string }
  /** A shell command that prints the keys, as one that asks a vault. */
  | { readonly kind: 'command'; readonly command: string; readonly source: string }
  /** Hosted mode makes no key of its own: one that is only on the same disk protects nothing there. */
  | { readonly kind: 'none'; readonly source: string };

/** Why there is no master key to work with; says the remedy, never the content. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError';
}

const MAKE_ONE = 'make one with "openssl rand -base64 32"';

/** The keys as they are now; a file of our own is made if it is not there. Throws a MasterKeyError. */
export function readMasterKeys(from: MasterKeySource): MasterKeys {
  switch (from.kind) {
    case 'own-file':
      return readOwnFile(from.path);
    case 'text':
      return parseMasterKeys(from.text.reveal(), from.source);
    case 'file':
      return parseMasterKeys(readGivenFile(from.path, from.source), from.source);
    case 'command':
      return parseMasterKeys(runCommand(from.command, from.source), from.source);
    case 'none':
      throw new MasterKeyError(
        `Hosted mode needs a master key to seal what callers entrust to it: set ${from.source}; ${MAKE_ONE} and keep it safe, since what it sealed cannot be opened without it.`,
      );
  }
}

/** How many keys there are, for people who look before they start; makes no file. Throws a MasterKeyError. */
export function inspectMasterKeys(from: MasterKeySource): string {
  if (from.kind === 'own-file' && !existsSync(from.path))
    return `${from.path} is not there yet; the first start makes it`;
  const keys = readMasterKeys(from);
  return keys.length === 1 ? from.source : `${from.source}, ${keys.length} keys: the first seals`;
}

/** Keys between spaces, commas or line breaks, and notes from # to the end of a line; the first key seals, all open. */
export function parseMasterKeys(text: string, source: string): MasterKeys {
  const words = text.replace(/#.*$/gm, '').split(/[\s,]+/);
  const keys = words.filter((word) => word !== '').map((word) => masterKey(readKeyBytes(word, source)));
  const [first, ...others] = keys;
  if (first === undefined) throw new MasterKeyError(`${source} holds no master key; ${MAKE_ONE}.`);
  if (keys.length > LIMITS.masterKeysMax) {
    throw new MasterKeyError(`${source} holds ${keys.length} master keys; at most ${LIMITS.masterKeysMax} are taken.`);
  }
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new MasterKeyError(`${source} holds the same master key twice.`);
  }
  return [first, ...others];
}

const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

function readKeyBytes(word: string, source: string): Buffer {
  const bytes = HEX.test(word)
    ? Buffer.from(word, 'hex')
    : BASE64.test(word)
      ? Buffer.from(word, 'base64')
      : Buffer.alloc(0);
  if (bytes.length !== 32) {
    throw new MasterKeyError(
      `${source} holds a master key that is not 32 bytes in base64 (44 characters) or hexadecimal (64); ${MAKE_ONE}.`,
    );
  }
  const weakness = weaknessOf(bytes);
  if (weakness !== null) throw new MasterKeyError(`${source} holds a weak master key: ${weakness}; ${MAKE_ONE}.`);
  return bytes;
}

/** Of 32 random bytes hardly two are alike: fewer than this differ once in 10^12 keys. */
const DIFFERENT_BYTES_MIN = 18;

/** What no random key looks like; length alone would let a phrase or a row of zeros pass. */
function weaknessOf(bytes: Buffer): string | null {
  if (new Set(bytes).size < DIFFERENT_BYTES_MIN) return 'its bytes repeat';
  const steps = bytes.map((byte, at) => byte - bytes[(at + 1) % bytes.length]!);
  if (new Set(steps).size < DIFFERENT_BYTES_MIN) return 'its bytes follow a pattern';
  return bytes.every((byte) => byte >= 0x20 && byte <= 0x7e) ? 'it is text, not random bytes' : null;
}

function readOwnFile(path: string): MasterKeys {
  if (!existsSync(path)) writeOwnFile(path, []);
  refuseOpenFile(path, 0o077, 'read', `chmod 600 ${path}`);
  return parseMasterKeys(readBounded(path, path), path);
}

/** A new key before those the file already holds: it seals from now on, and what they sealed still opens. */
export function addOwnKey(path: string): MasterKeys {
  const old = readOwnFile(path);
  if (old.length >= LIMITS.masterKeysMax) {
    throw new MasterKeyError(
      `${path} holds ${old.length} master keys already. Take away those that "tollgate seal status" shows without rows.`,
    );
  }
  writeOwnFile(
    path,
    old.map(({ bytes }) => Buffer.from(bytes).toString('base64')),
  );
  return readOwnFile(path);
}

const OWN_FILE_NOTE =
  '# Tollgate seals what callers entrust to it under the first of these keys; all of them open.\n' +
  '# Keep a copy apart from the books: what a key sealed cannot be opened without it.\n';

/** Durable before anything is sealed under it, and never seen half written. */
function writeOwnFile(path: string, others: readonly string[]): void {
  const keys = [randomBytes(32).toString('base64'), ...others];
  const draft = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${OWN_FILE_NOTE}${keys.join('\n')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFolder(dirname(path));
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Secrets are often mounted readable to all inside their container, but nobody else should be able to change one. */
function readGivenFile(path: string, source: string): string {
  refuseOpenFile(path, 0o022, 'write', `chmod go-w ${path}`, source);
  return readBounded(path, `${source} names a file that`);
}

function refuseOpenFile(path: string, bits: number, may: string, remedy: string, source = path): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  // Elsewhere a mode says nothing about who may do what.
  if (process.platform === 'win32' || (mode & bits) === 0) return;
  const open = (mode & 0o777).toString(8).padStart(3, '0');
  throw new MasterKeyError(
    `${source}: other users may ${may} the master key in ${path} (mode ${open}). Close it with "${remedy}".`,
  );
}

function readBounded(path: string, subject: string): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= LIMITS.providerKeyFileBytesMax) return bytes.toString('utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new MasterKeyError(`${subject} cannot be read (${code}).`);
  }
  throw new MasterKeyError(`${subject} is too large to hold master keys.`);
}

/** What the command says on its error output goes to ours; its output is the keys and nothing else. */
function runCommand(command: string, source: string): string {
  try {
    return execFileSync('/bin/sh', ['-c', command], {
      encoding: 'utf8',
      maxBuffer: LIMITS.providerKeyFileBytesMax,
      timeout: LIMITS.masterKeyCommandMs,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    const { status, code } = error as { status?: number | null; code?: string };
    const how = typeof status === 'number' ? `ended with ${status}` : `failed (${code ?? 'cut off'})`;
    throw new MasterKeyError(`The command of ${source} ${how}.`);
  }
}
