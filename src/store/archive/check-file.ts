import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { tryParseJson } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { MONTH_PART, MonthTree } from '../month-tree.ts';
import { type ArchiveBlock, type ArchiveManifest, digestOf, readStart, sha256 } from './archive-file.ts';
import { readLine } from './archived-line.ts';

/** One file of a month, and the hash that its manifest must have. */
export interface FileToCheck {
  /** How it is called in messages. */
  readonly name: string;
  readonly data: string;
  readonly manifest: string;
  readonly manifestSha256: string;
}

export interface MonthFindings {
  /** What is wrong, one sentence for each file; empty if all is well. */
  readonly problems: readonly string[];
  readonly receipts: number;
  /** Receipts that were deleted before the first file began, without being archived. */
  readonly before: number;
  /** The trees after the last file; null if a file is damaged. */
  readonly digest: string | null;
}

/**
 * Reads the files of a month in order and recomputes the hash of every receipt and the trees of the month. Every line is read, which takes long, so it runs in a
 * thread of its own.
 */
export function checkMonth(files: readonly FileToCheck[]): MonthFindings {
  const month = new MonthFiles();
  const problems: string[] = [];
  for (const file of files) {
    const problem = month.add(file);
    if (problem !== null) problems.push(`${file.name}: ${problem}.`);
  }
  const { receipts, before } = month;
  return { problems, receipts, before, digest: problems.length === 0 ? month.digest() : null };
}

type Trees = Map<bigint, MonthTree>;

class MonthFiles {
  receipts = 0;
  before = 0;
  #trees: Trees | null = null;

  /** What is wrong with the file, in a phrase; null if it is right. */
  add(file: FileToCheck): string | null {
    try {
      return this.#read(file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? 'the file or its manifest is missing' : `it cannot be read (${code ?? message})`;
    }
  }

  #read(file: FileToCheck): string | null {
    const text = readFileSync(file.manifest);
    if (sha256(text) !== file.manifestSha256) return 'its manifest has changed since it was archived';
    const manifest = tryParseJson(text.toString()) as ArchiveManifest;
    const descriptor = openSync(file.data, 'r');
    try {
      return this.#readBlocks(descriptor, manifest);
    } finally {
      closeSync(descriptor);
    }
  }

  #readBlocks(descriptor: number, manifest: ArchiveManifest): string | null {
    const hash = createHash('sha256');
    const sums = { spent: 0n, held: 0n, loss: 0n };
    let receipts = 0;
    for (const [at, block] of manifest.blocks.entries()) {
      const zipped = readBlock(descriptor, block);
      if (zipped === null || sha256(zipped) !== block.sha256)
        return `it has changed since it was archived, or is cut short, at byte ${block.offset}`;
      hash.update(zipped);
      const lines = linesIn(zipped);
      const wrong = at === 0 ? this.#begin(lines) : this.#append(lines, sums);
      if (wrong !== null) return wrong;
      receipts += block.receipts;
    }
    if (hash.digest('hex') !== manifest.sha256) return 'it has changed since it was archived';
    this.receipts += receipts;
    const expected = [manifest.receipts, manifest.spent_nanousd, manifest.held_nanousd, manifest.loss_nanousd];
    const isEqual = [receipts, sums.spent, sums.held, sums.loss].every((sum, i) => String(sum) === String(expected[i]));
    return isEqual ? null : 'its receipts do not add up to the sums in its manifest';
  }

  /** A file begins where the previous one ended. */
  #begin(lines: readonly string[]): string | null {
    const starts: Trees = new Map();
    for (const line of lines) {
      const { accountId, tree } = readStart(tryParseJson(line) as Readonly<Record<string, string>>);
      starts.set(accountId, tree);
    }
    if (this.#trees !== null) return digestIn(this.#trees) === digestIn(starts) ? null : 'an earlier file is missing';
    this.before = [...starts.values()].reduce((sum, tree) => sum + tree.calls, 0);
    this.#trees = starts;
    return null;
  }

  #append(lines: readonly string[], sums: { spent: bigint; held: bigint; loss: bigint }): string | null {
    for (const line of lines) {
      const read = readLine(line);
      if (read === null) return 'a receipt in it does not match its hash';
      const { receipt, leaf } = read;
      const [cost, held, loss] = [BigInt(receipt.cost!), BigInt(receipt.held!), BigInt(receipt.loss ?? 0)];
      const accountId = BigInt(receipt.account_id!);
      const tree = this.#trees!.get(accountId) ?? new MonthTree();
      this.#trees!.set(accountId, tree);
      tree.appendLeaf(leaf, cost, held, loss);
      sums.spent += cost;
      sums.held += held;
      sums.loss += loss;
    }
    return null;
  }

  digest(): string {
    return digestIn(this.#trees ?? new Map());
  }
}

function digestIn(trees: Trees): string {
  const sorted = [...trees].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return digestOf(sorted.map(([accountId, tree]) => tree.rowOf(0n, accountId, MONTH_PART.closed)));
}

function readBlock(descriptor: number, { offset, bytes }: ArchiveBlock): Buffer | null {
  const into = Buffer.alloc(bytes);
  return readSync(descriptor, into, 0, bytes, offset) === bytes ? into : null;
}

function linesIn(zipped: Uint8Array): string[] {
  const text = gunzipSync(zipped, { maxOutputLength: LIMITS.archiveBlockBytesMax }).toString();
  return text.split('\n').slice(0, -1);
}
