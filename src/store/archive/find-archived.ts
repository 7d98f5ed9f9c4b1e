import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Receipt } from '../../canonical/receipt.ts';
import { tryParseJson } from '../../json/json.ts';
import type { HashText } from '../../kit/hash-tree.ts';
import { shellWord } from '../../kit/shell-words.ts';
import { LIMITS } from '../../limits.ts';
import type { Directory } from '../directory.ts';
import { fitsInt64 } from '../int64.ts';
import { type ArchiveFile, ArchiveUnreadable } from '../receipt-archive.ts';
import { type ArchiveBlock, type ArchiveManifest, DATA_SUFFIX, MANIFEST_SUFFIX, sha256 } from './archive-file.ts';
import { type ReadLine, readLine, receiptOfArchived } from './archived-line.ts';

const unzip = promisify(gunzip);

/**
 * Finds archived receipts. The ledger has the hash of each manifest, the manifest has the hash of each block, and the
 * line of a receipt has the hash of its content, so that a changed receipt is never shown.
 */
export class ArchiveFinder {
  readonly #directory: Pick<Directory, 'archiveFileOf'>;
  readonly #folder: string | null;
  /** Blocks of the files that were used last, by the hash of the manifest. */
  readonly #blocks = new Map<string, readonly ArchiveBlock[]>();

  constructor(directory: Pick<Directory, 'archiveFileOf'>, folder: string | null) {
    this.#directory = directory;
    this.#folder = folder;
  }

  /** Null if it was not archived, or is of another account. Throws `ArchiveUnreadable`. */
  async find(id: bigint, accountId: bigint | null): Promise<Receipt | null> {
    const found = await this.#line(id);
    const receipt = found === null ? null : receiptOfArchived(found.receipt);
    return receipt === null || (accountId !== null && receipt.accountId !== accountId) ? null : receipt;
  }

  /** The hash of a receipt; null if it was not archived. Throws `ArchiveUnreadable`. */
  async leafOf(id: bigint): Promise<HashText | null> {
    return (await this.#line(id))?.leaf ?? null;
  }

  async #line(id: bigint): Promise<ReadLine | null> {
    const file = fitsInt64(id) ? await this.#directory.archiveFileOf(id) : null;
    return file === null ? null : this.#read(file, id);
  }

  async #read(file: ArchiveFile, id: bigint): Promise<ReadLine | null> {
    if (this.#folder === null)
      throw new ArchiveUnreadable(
        `This receipt may be in the archive file ${file.name}${DATA_SUFFIX}. Set retention.archive_folder to the folder that has it.`,
      );
    try {
      const blocks = await this.#blocksOf(this.#folder, file);
      const block = blocks.findLast(({ first_id }) => first_id !== null && BigInt(first_id) <= id);
      return block === undefined ? null : await this.#find(this.#folder, file, block, id);
    } catch (error) {
      if (error instanceof ArchiveUnreadable) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new ArchiveUnreadable(
        `The archive file ${file.name}${DATA_SUFFIX} cannot be read in ${this.#folder} (${code ?? message}).`,
      );
    }
  }

  async #blocksOf(folder: string, { name, manifestSha256 }: ArchiveFile): Promise<readonly ArchiveBlock[]> {
    const known = this.#blocks.get(manifestSha256);
    if (known !== undefined) return known;
    const text = await readFile(join(folder, name + MANIFEST_SUFFIX));
    if (sha256(text) !== manifestSha256) throw changed(folder, name + MANIFEST_SUFFIX);
    const { blocks } = tryParseJson(text.toString()) as ArchiveManifest;
    if (this.#blocks.size >= LIMITS.archiveManifestsKept) this.#blocks.clear();
    this.#blocks.set(manifestSha256, blocks);
    return blocks;
  }

  async #find(
    folder: string,
    { name }: ArchiveFile,
    { offset, bytes, sha256: hash }: ArchiveBlock,
    id: bigint,
  ): Promise<ReadLine | null> {
    const handle = await open(join(folder, name + DATA_SUFFIX), 'r');
    const zipped = Buffer.alloc(bytes);
    try {
      await handle.read(zipped, 0, bytes, offset);
    } finally {
      await handle.close();
    }
    if (sha256(zipped) !== hash) throw changed(folder, name + DATA_SUFFIX);
    const text = (await unzip(zipped, { maxOutputLength: LIMITS.archiveBlockBytesMax })).toString();
    for (const line of linesNaming(text, id)) {
      const read = readLine(line);
      if (read === null) throw changed(folder, name + DATA_SUFFIX);
      if (read.receipt.id === String(id)) return read;
    }
    return null;
  }
}

/** The lines in which the id occurs, so that others need not be parsed. */
function* linesNaming(text: string, id: bigint): Iterable<string> {
  const wanted = `"id":"${id}"`;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1))
    yield text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at));
}

function changed(folder: string, file: string): ArchiveUnreadable {
  return new ArchiveUnreadable(
    `The archive file ${file} has changed since it was written. Restore it from a backup; "tollgate store archive --check ${shellWord(folder)}" names every file that is damaged.`,
  );
}
