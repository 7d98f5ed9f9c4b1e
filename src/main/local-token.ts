import { randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const OTHERS = 0o077;

/**
 * The token that opens the management API in local mode. It stays the same over restarts, so that an open page and a saved
 * link go on working. A file that others could have read or written gets a new one.
 */
export function openLocalToken(folder: string): string {
  const file = join(folder, 'console.token');
  const kept = keptToken(file);
  if (kept !== null) return kept;
  const token = randomBytes(32).toString('base64url');
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return token;
}

function keptToken(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || (found.mode & OTHERS) !== 0) return null;
  if (process.getuid !== undefined && found.uid !== process.getuid()) return null;
  const token = readFileSync(file, 'utf8').trim();
  return TOKEN.test(token) ? token : null;
}
