import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../kit/make-folder.ts';
import type { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import { type MasterKeys, masterKey } from './seal.ts';

/** The gateway's own file in the data folder, made when it is first needed. */
export interface OwnFile {
  readonly kind: 'own-file';
  readonly path: string;
  readonly source: string;
}

/** Where the master keys come from. `source` is the name shown to people. */
export type MasterKeySource =
  | OwnFile
  | { readonly kind: 'text'; readonly text: Secret; readonly source: string }
  | { readonly kind: 'file'; readonly path: string; readonly source: string }
  /** A shell command that prints the keys, for example from a vault. */
  | { readonly kind: 'command'; readonly command: string; readonly source: string }
  /** Hosted mode does not make a key: one that lies on the same disk as the data protects nothing. */
  | { readonly kind: 'none'; readonly source: string };

/** Why there is no usable master key. The message says what to do, and never contains a key. */
export class MasterKeyError extends Error {
  override readonly name: string = 'MasterKeyError';
}

/** The service that it asks may be unreachable, so a later start can succeed with the same settings. */
class MasterKeyCommandFailed extends MasterKeyError {
  override readonly name = 'MasterKeyCommandFailed';
}

const MAKE_ONE = 'make one with "openssl rand -base64 32"';

/** Reads the keys. Makes the gateway's own file if it is missing. Throws a MasterKeyError. */
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
        `Hosted mode needs a master key to encrypt callers' provider keys: set ${from.source}; ${MAKE_ONE} and keep a copy, since nothing can be decrypted without it.`,
      );
  }
}

/** Reads them while calls go on: a command may take longer than a replica may be silent. */
export async function readMasterKeysMeanwhile(from: MasterKeySource): Promise<MasterKeys> {
  if (from.kind !== 'command') return readMasterKeys(from);
  return parseMasterKeys(await runCommandMeanwhile(from.command, from.source), from.source);
}

/** Describes the keys, for `doctor` and `config check`. Does not make a file. Throws a MasterKeyError. */
export function inspectMasterKeys(from: MasterKeySource): string {
  if (isOwnFileMissing(from)) return `${from.source} does not exist yet; the first start makes it`;
  const keys = readMasterKeys(from);
  return keys.length === 1 ? from.source : `${from.source}, ${keys.length} keys; the first one encrypts`;
}

/** Whether the gateway's own file is not there: not made yet, or lost. */
export function isOwnFileMissing(from: MasterKeySource): from is OwnFile {
  return from.kind === 'own-file' && !existsSync(from.path);
}

/** A new key could not decrypt what is stored, so none is made. */
export function lostOwnFile(path: string): MasterKeyError {
  return new MasterKeyError(
    `${path} is missing, and the ledger holds secrets that only its keys decrypt. Put it back from a copy. ` +
      'If the gateway has its master keys from elsewhere, as in hosted mode, set TOLLGATE_MASTER_KEY, ' +
      'TOLLGATE_MASTER_KEY_FILE or TOLLGATE_MASTER_KEY_COMMAND as it does. ' +
      `If there is no copy, ${MAKE_ONE} in a file of that name with mode 0600: provider keys, webhook secrets, ` +
      'waiting jobs and the key that signs receipts are lost then.',
  );
}

/** Writes the file again with these keys if it is gone. */
export function keepOwnFile(path: string, keys: MasterKeys): void {
  if (!existsSync(path)) writeOwnFile(path, keys.map(asText));
}

/** Keys are separated by spaces, commas or line breaks; # starts a comment. The first key encrypts, all decrypt. */
export function parseMasterKeys(text: string, source: string): MasterKeys {
  const words = text.replace(/#.*$/gm, '').split(/[\s,]+/);
  const keys = words.filter((word) => word !== '').map((word) => masterKey(readKeyBytes(word, source)));
  const [first, ...others] = keys;
  if (first === undefined) throw new MasterKeyError(`${source} holds no master key; ${MAKE_ONE}.`);
  if (keys.length > LIMITS.masterKeysMax) {
    throw new MasterKeyError(
      `${source} holds ${keys.length} master keys; at most ${LIMITS.masterKeysMax} are allowed.`,
    );
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

/** Random bytes hardly repeat: of 10^12 random keys, one has fewer different bytes than this. */
const DIFFERENT_BYTES_MIN = 18;

/** Why a key does not look random; null if it does. A check of its length alone would accept a phrase or 32 zeros. */
function weaknessOf(bytes: Buffer): string | null {
  if (new Set(bytes).size < DIFFERENT_BYTES_MIN) return 'its bytes repeat';
  const steps = bytes.map((byte, at) => byte - bytes[(at + 1) % bytes.length]!);
  if (new Set(steps).size < DIFFERENT_BYTES_MIN) return 'its bytes follow a pattern';
  return bytes.every((byte) => byte >= 0x20 && byte <= 0x7e) ? 'it is text, not random bytes' : null;
}

function readOwnFile(path: string): MasterKeys {
  if (!existsSync(path)) writeOwnFile(path, [newKey()]);
  refuseOpenFile(path, 0o077, 'read', `chmod 600 ${path}`);
  return parseMasterKeys(readBounded(path, path), path);
}

/** Adds a new first key to the file. It encrypts from now on; the others still decrypt. */
export function addOwnKey(path: string): MasterKeys {
  const old = readOwnFile(path);
  if (old.length >= LIMITS.masterKeysMax) {
    throw new MasterKeyError(
      `${path} holds ${old.length} master keys already. Remove those that "tollgate seal status" shows without rows.`,
    );
  }
  writeOwnFile(path, [newKey(), ...old.map(asText)]);
  return readOwnFile(path);
}

function newKey(): string {
  return randomBytes(32).toString('base64');
}

function asText({ bytes }: MasterKeys[number]): string {
  return Buffer.from(bytes).toString('base64');
}

const OWN_FILE_NOTE =
  "# Tollgate encrypts callers' provider keys with the first key in this file, and decrypts with any of them.\n" +
  '# Keep a copy outside the data folder: without these keys, stored provider keys cannot be decrypted.\n';

/** The file is on disk before one of its keys is used, and is never seen half written. */
function writeOwnFile(path: string, keys: readonly string[]): void {
  const draft = `${path}.new`;
  makeFolder(dirname(path));
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

/** Containers often mount secrets readable for everyone, so only write access of others is refused. */
function readGivenFile(path: string, source: string): string {
  refuseOpenFile(path, 0o022, 'write', `chmod go-w ${path}`, source);
  return readBounded(path, `${source} names a file that`);
}

function refuseOpenFile(path: string, bits: number, may: string, remedy: string, source = path): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  // On Windows the mode says nothing about permissions.
  if (process.platform === 'win32' || (mode & bits) === 0) return;
  const open = (mode & 0o777).toString(8).padStart(3, '0');
  throw new MasterKeyError(
    `${source}: other users may ${may} the master key in ${path} (mode ${open}). Run "${remedy}".`,
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

/** The command's standard output is the keys; its standard error goes to ours. */
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
    throw commandFailed(source, status ?? null, code);
  }
}

async function runCommandMeanwhile(command: string, source: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  // A command that cannot be started at all is reported below, where its end is awaited.
  ended.catch(() => undefined);
  const late = AbortSignal.timeout(LIMITS.masterKeyCommandMs);
  const stop = (code: string): void => {
    child.kill();
    // What the shell has started may hold the pipe open.
    child.stdout.destroy(Object.assign(new Error(code), { code }));
  };
  const onLate = (): void => stop('ETIMEDOUT');
  late.addEventListener('abort', onLate);
  try {
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length > LIMITS.providerKeyFileBytesMax) stop('ENOBUFS');
    }
    const [status] = await ended;
    if (status !== 0) throw commandFailed(source, status);
    return Buffer.concat(pieces).toString('utf8');
  } catch (error) {
    if (error instanceof MasterKeyError) throw error;
    throw commandFailed(source, null, (error as NodeJS.ErrnoException).code);
  } finally {
    late.removeEventListener('abort', onLate);
  }
}

function commandFailed(source: string, status: number | null, code = 'cut off'): MasterKeyCommandFailed {
  const isLate = code === 'ETIMEDOUT';
  const failed = isLate ? `did not end within ${LIMITS.masterKeyCommandMs / 1000} seconds` : `failed (${code})`;
  const how = status !== null ? `ended with ${status}` : failed;
  return new MasterKeyCommandFailed(`The command of ${source} ${how}.`);
}
