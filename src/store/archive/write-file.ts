import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { monthName } from '../month-tree.ts';
import type { ArchiveSlice } from '../programs/archive-reader.ts';
import type { ArchiveFile } from '../receipt-archive.ts';
import { FORM } from '../receipt-form.ts';
import {
  type ArchiveBlock,
  DATA_SUFFIX,
  MANIFEST_SUFFIX,
  manifestText,
  monthPrefix,
  sha256,
  syncPath,
} from './archive-file.ts';

const zip = promisify(gzip);

/** Writes an archive file under draft names; it gets its final names only after it was read back. */
export class ArchiveWriter {
  readonly #folder: string;
  readonly #monthMs: number;
  readonly #number: number;
  readonly #data: FileHandle;
  readonly #hash = createHash('sha256');
  readonly #blocks: ArchiveBlock[] = [];
  #bytes = 0;
  #first: bigint | null = null;
  #upTo = 0n;
  #receipts = 0;
  #sums = { spent: 0n, held: 0n, loss: 0n };

  private constructor(folder: string, monthMs: number, number: number, data: FileHandle) {
    this.#folder = folder;
    this.#monthMs = monthMs;
    this.#number = number;
    this.#data = data;
  }

  static async create(folder: string, monthMs: number, number: number): Promise<ArchiveWriter> {
    const data = await open(draftPath(folder, monthMs, number), 'w', 0o600);
    return new ArchiveWriter(folder, monthMs, number, data);
  }

  get receipts(): number {
    return this.#receipts;
  }

  /** The first block. */
  addStarts(lines: readonly string[]): Promise<void> {
    return this.#addBlock(Buffer.from(lines.map((line) => `${line}\n`).join('')), null, 0);
  }

  async add({ firstId, upTo, receipts, spent, held, loss, lines }: ArchiveSlice): Promise<void> {
    await this.#addBlock(lines, firstId, receipts);
    this.#first ??= firstId;
    this.#upTo = upTo;
    this.#receipts += receipts;
    this.#sums = { spent: this.#sums.spent + spent, held: this.#sums.held + held, loss: this.#sums.loss + loss };
  }

  async #addBlock(lines: Uint8Array, firstId: bigint | null, receipts: number): Promise<void> {
    const zipped = await zip(lines);
    await this.#data.writeFile(zipped);
    this.#hash.update(zipped);
    const first_id = firstId === null ? null : String(firstId);
    this.#blocks.push({ offset: this.#bytes, bytes: zipped.length, sha256: sha256(zipped), first_id, receipts });
    this.#bytes += zipped.length;
  }

  /** Both files are on disk when this returns, under their draft names. */
  async finish(nowMs: number): Promise<ArchiveDraft> {
    await this.#data.sync();
    await this.#data.close();
    const hash = this.#hash.digest('hex');
    const text = manifestText({
      form: FORM,
      month: monthName(this.#monthMs),
      number: this.#number,
      first_id: String(this.#first),
      last_id: String(this.#upTo),
      receipts: this.#receipts,
      spent_nanousd: String(this.#sums.spent),
      held_nanousd: String(this.#sums.held),
      loss_nanousd: String(this.#sums.loss),
      bytes: this.#bytes,
      sha256: hash,
      blocks: this.#blocks,
    });
    const data = draftPath(this.#folder, this.#monthMs, this.#number);
    const manifest = manifestDraft(data);
    await writeFile(manifest, text, { mode: 0o600, flush: true });
    const file = {
      // A part of the hash keeps ledgers that share a folder from overwriting each other's files.
      name: `${monthPrefix(this.#monthMs, this.#number)}-${hash.slice(0, 8)}`,
      monthMs: this.#monthMs,
      number: this.#number,
      firstId: this.#first ?? 0n,
      upTo: this.#upTo,
      receipts: this.#receipts,
      bytes: this.#bytes,
      manifestSha256: sha256(text),
      archivedMs: nowMs,
    };
    return { file, data, manifest };
  }

  async discard(): Promise<void> {
    await this.#data.close();
    const data = draftPath(this.#folder, this.#monthMs, this.#number);
    await rm(data, { force: true });
    await rm(manifestDraft(data), { force: true });
  }
}

export interface ArchiveDraft {
  readonly file: ArchiveFile;
  /** Paths of the data and the manifest. */
  readonly data: string;
  readonly manifest: string;
}

function draftPath(folder: string, monthMs: number, number: number): string {
  return join(folder, `${monthPrefix(monthMs, number)}.part`);
}

function manifestDraft(data: string): string {
  return `${data}${MANIFEST_SUFFIX}`;
}

/** Gives both files their names, the manifest last. A file with the same name has the same content. */
export async function publish(
  folder: string,
  { file, data, manifest }: ArchiveDraft,
  onDataNamed: () => Promise<void>,
): Promise<void> {
  await rename(data, join(folder, file.name + DATA_SUFFIX));
  await onDataNamed();
  await rename(manifest, join(folder, file.name + MANIFEST_SUFFIX));
  await syncPath(folder);
}
