import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
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
  readonly #monthMs: number;
  readonly #number: number;
  readonly #path: string;
  readonly #data: FileHandle;
  readonly #hash = createHash('sha256');
  readonly #blocks: ArchiveBlock[] = [];
  #bytes = 0;
  #first: bigint | null = null;
  #upTo = 0n;
  #receipts = 0;
  #sums = { spent: 0n, held: 0n, loss: 0n };

  private constructor(monthMs: number, number: number, path: string, data: FileHandle) {
    this.#monthMs = monthMs;
    this.#number = number;
    this.#path = path;
    this.#data = data;
  }

  /**
   * Two archivers never share a draft, even if one of them does not know yet that it has lost its lock. The drafts that
   * others began for the same receipts are removed: one who still writes there finds no file to publish.
   */
  static async create(folder: string, monthMs: number, number: number, firstId: bigint): Promise<ArchiveWriter> {
    const prefix = monthPrefix(monthMs, number);
    // The first receipt tells the drafts of ledgers that share a folder apart.
    const draft = `${prefix}-${firstId}.`;
    await removeDrafts(folder, [draft, `${prefix}.`]);
    const path = join(folder, `${draft}${randomBytes(8).toString('hex')}${DRAFT_SUFFIX}`);
    return new ArchiveWriter(monthMs, number, path, await open(path, 'wx', 0o600));
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
    const data = this.#path;
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
    await rm(this.#path, { force: true });
    await rm(manifestDraft(this.#path), { force: true });
  }
}

export interface ArchiveDraft {
  readonly file: ArchiveFile;
  /** Paths of the data and the manifest. */
  readonly data: string;
  readonly manifest: string;
}

const DRAFT_SUFFIX = '.part';

/** Never a file with its final name, whatever that begins with. */
async function removeDrafts(folder: string, beginnings: readonly string[]): Promise<void> {
  const isDraft = (name: string): boolean => name.endsWith(DRAFT_SUFFIX) || name.endsWith(manifestDraft(DRAFT_SUFFIX));
  const names = (await readdir(folder)).filter((name) => beginnings.some((each) => name.startsWith(each)));
  await Promise.all(names.filter(isDraft).map((name) => rm(join(folder, name), { force: true })));
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
