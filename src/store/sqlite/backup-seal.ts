import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { basename } from 'node:path';
import { BackupRefused } from '../backup.ts';

/**
 * A backup ends with the SHA-256 of everything before it. SQLite does not read beyond the pages that its header counts,
 * so that a sealed file is still a database.
 */
const LABEL = 'tollgate-backup-sha256:';
const SEAL_BYTES = LABEL.length + 64 + 1;
const CHUNK_BYTES = 1024 * 1024;

export function sealBackup(file: string): void {
  const { size } = statSync(file);
  appendFileSync(file, sealOf(file, size));
}

/**
 * Removes the seal from `copy`, a copy of the backup `name`, after comparing it with the content. A database without
 * one is left as it is: an older version may have written it.
 */
export function breakSeal(copy: string, name: string): void {
  const { size } = statSync(copy);
  if (size === databaseBytes(copy)) return;
  const content = size - SEAL_BYTES;
  const sealed = content > 0 && readAt(copy, content, SEAL_BYTES).toString('latin1') === sealOf(copy, content);
  if (!sealed) {
    throw new BackupRefused(
      `${basename(name)} has changed since the backup was made, or is not a backup: its content does not match its digest.`,
    );
  }
  truncateSync(copy, content);
}

function sealOf(file: string, bytes: number): string {
  const hash = createHash('sha256');
  const descriptor = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; at < bytes; ) {
      const read = readSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, bytes - at), at);
      if (read === 0) break;
      hash.update(chunk.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(descriptor);
  }
  return `${LABEL}${hash.digest('hex')}\n`;
}

/** How long the file is by its own header; null if it has none. */
function databaseBytes(file: string): number | null {
  const header = readAt(file, 0, 100);
  if (header.length < 100 || header.toString('latin1', 0, 15) !== 'SQLite format 3') return null;
  const pageBytes = header.readUInt16BE(16);
  return (pageBytes === 1 ? 65_536 : pageBytes) * header.readUInt32BE(28);
}

function readAt(file: string, at: number, bytes: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const into = Buffer.alloc(bytes);
    return into.subarray(0, readSync(descriptor, into, 0, bytes, at));
  } finally {
    closeSync(descriptor);
  }
}
