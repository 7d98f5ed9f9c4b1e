import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncPath } from './database.ts';
import type { Progress } from './progress.ts';

/** Each slot has a sector of its own, so that a write cut short spoils only one of them. */
const SLOT_BYTES = 4096;
const SLOTS = 2;
const MAGIC = Buffer.from('tollmrk1', 'latin1');
const CRC_AT = MAGIC.length + 5 * 8;
const RECORD_BYTES = CRC_AT + 4;

export function markPath(folder: string): string {
  return join(folder, 'tollgate.mark');
}

/** The newer of the slots that can be read. */
export function readMark(folder: string): Progress | 'missing' | 'unreadable' {
  let bytes: Buffer;
  try {
    bytes = readFileSync(markPath(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  return newestOf(bytes)?.progress ?? 'unreadable';
}

/** Writes a whole new mark file, durably; a mark that is there is replaced in one step. */
export function createMark(folder: string, progress: Progress): void {
  const bytes = Buffer.alloc(SLOTS * SLOT_BYTES);
  const record = new MarkRecord();
  record.set(progress);
  record.bytes.copy(bytes);
  const draft = `${markPath(folder)}.new`;
  writeFileSync(draft, bytes, { mode: 0o600 });
  syncPath(draft);
  renameSync(draft, markPath(folder));
  syncPath(folder);
}

/**
 * The progress of the ledger in a small file of its own, so that a damaged write-ahead log does not damage it too. It is
 * written after each commit and before the outcomes are reported, to the two slots in turn, and synced once a second.
 */
export class MarkFile {
  readonly #folder: string;
  readonly #record = new MarkRecord();
  #descriptor: number;
  #inode: number;
  #slot: number;
  #isSynced = false;
  #isSyncing = false;
  #syncError: Error | null = null;

  /** Opens the mark of this ledger, or makes one. */
  constructor(folder: string, progress: Progress) {
    this.#folder = folder;
    if (typeof readMark(folder) === 'string') createMark(folder, progress);
    this.#slot = 1 - (newestOf(readFileSync(markPath(folder)))?.slot ?? 1);
    this.#descriptor = openSync(markPath(folder), 'r+');
    this.#inode = statSync(markPath(folder)).ino;
    this.write(progress);
  }

  write(progress: Progress): void {
    this.#record.set(progress);
    writeSync(this.#descriptor, this.#record.bytes, 0, RECORD_BYTES, this.#slot * SLOT_BYTES);
    this.#slot = 1 - this.#slot;
    this.#isSynced = false;
  }

  sync(): void {
    if (this.#isSynced) return;
    fdatasyncSync(this.#descriptor);
    this.#isSynced = true;
  }

  /** Syncs it while the thread goes on. If that fails, the next call throws. */
  syncInBackground(): void {
    if (this.#syncError !== null) throw this.#syncError;
    if (this.#isSynced || this.#isSyncing) return;
    this.#isSynced = true;
    this.#isSyncing = true;
    fdatasync(this.#descriptor, (error) => {
      this.#isSyncing = false;
      this.#syncError = error;
    });
  }

  /** If the file was deleted while it was open, creates a new one. */
  replaceIfDeleted(progress: Progress): void {
    if (this.#isSyncing || statSync(markPath(this.#folder), { throwIfNoEntry: false })?.ino === this.#inode) return;
    createMark(this.#folder, progress);
    closeSync(this.#descriptor);
    this.#descriptor = openSync(markPath(this.#folder), 'r+');
    this.#inode = statSync(markPath(this.#folder)).ino;
  }

  close(): void {
    this.sync();
    closeSync(this.#descriptor);
  }
}

/** One record, which is written again and again. */
class MarkRecord {
  readonly bytes = Buffer.alloc(RECORD_BYTES);
  readonly #checked = this.bytes.subarray(0, CRC_AT);
  readonly #numbers = new DataView(this.bytes.buffer, this.bytes.byteOffset + MAGIC.length);

  constructor() {
    MAGIC.copy(this.bytes);
  }

  set({ booksId, generation, tip, receipts, spentNanousd }: Progress): void {
    const numbers = this.#numbers;
    numbers.setBigInt64(0, booksId, true);
    numbers.setBigInt64(8, generation, true);
    numbers.setBigInt64(16, tip, true);
    numbers.setBigInt64(24, receipts, true);
    numbers.setBigInt64(32, spentNanousd, true);
    numbers.setUint32(40, crc32(this.#checked), true);
  }
}

function newestOf(bytes: Buffer): { progress: Progress; slot: number } | null {
  let newest: { progress: Progress; slot: number } | null = null;
  for (let slot = 0; slot < SLOTS; slot++) {
    const progress = decode(bytes.subarray(slot * SLOT_BYTES, slot * SLOT_BYTES + RECORD_BYTES));
    if (progress !== null && (newest === null || isNewer(progress, newest.progress))) newest = { progress, slot };
  }
  return newest;
}

function isNewer(a: Progress, b: Progress): boolean {
  return a.generation > b.generation || (a.generation === b.generation && a.tip > b.tip);
}

function decode(record: Buffer): Progress | null {
  if (record.length < RECORD_BYTES || !record.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (crc32(record.subarray(0, CRC_AT)) !== record.readUInt32LE(CRC_AT)) return null;
  const at = (field: number): bigint => record.readBigInt64LE(MAGIC.length + field * 8);
  return { booksId: at(0), generation: at(1), tip: at(2), receipts: at(3), spentNanousd: at(4) };
}
