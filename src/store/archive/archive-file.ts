import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { MonthTree, type MonthTreeRow, monthName, type TreeStart } from '../month-tree.ts';

/**
 * An archive file has receipts of one month in the order of their ids, as lines of JSON in gzip. It consists of blocks,
 * which are gzip streams of their own, so that one receipt can be read without the others. The first block has the
 * trees of receipts that were deleted earlier. Beside the file is a manifest with sums, hashes and the list of blocks.
 */
export const DATA_SUFFIX = '.jsonl.gz';
export const MANIFEST_SUFFIX = '.json';
const VERSION = 1;

export interface ArchiveBlock {
  readonly offset: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The id of its first receipt; null for the first block. */
  readonly first_id: string | null;
  readonly receipts: number;
}

/** Ids and sums are texts, because they may exceed what a number in JSON can hold exactly. */
export interface ArchiveManifest {
  readonly object: 'receipt_archive';
  readonly version: typeof VERSION;
  /** The version of the receipts' canonical form. */
  readonly form: number;
  readonly month: string;
  /** A month that was archived in several steps has several files. */
  readonly number: number;
  readonly first_id: string;
  readonly last_id: string;
  readonly receipts: number;
  readonly spent_nanousd: string;
  readonly held_nanousd: string;
  readonly loss_nanousd: string;
  readonly bytes: number;
  /** The hash of the whole file. */
  readonly sha256: string;
  readonly blocks: readonly ArchiveBlock[];
}

export function monthPrefix(monthMs: number, number: number): string {
  return `receipts-${monthName(monthMs)}-${String(number).padStart(3, '0')}`;
}

export function manifestText(facts: Omit<ArchiveManifest, 'object' | 'version'>): string {
  return `${JSON.stringify({ object: 'receipt_archive', version: VERSION, ...facts }, null, 1)}\n`;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Flushes a file or a folder to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** An account's tree as a line of the first block. */
export function writeStart({ account_id, form, calls, spent, held, loss, peaks }: MonthTreeRow): string {
  const numbers = { account_id, form, calls, spent, held, loss };
  const texts = Object.entries(numbers).map(([name, value]) => [name, String(value)]);
  return JSON.stringify({ ...Object.fromEntries(texts), peaks: Buffer.from(peaks).toString('hex') });
}

/** The tree of such a line. Throws if it is damaged. */
export function readStart(line: Readonly<Record<string, string>>): { accountId: bigint; tree: MonthTree } {
  const number = (name: string): bigint => BigInt(line[name]!);
  const start: TreeStart = {
    form: number('form'),
    calls: number('calls'),
    spent: number('spent'),
    held: number('held'),
    loss: number('loss'),
    peaks: Buffer.from(line.peaks!, 'hex'),
  };
  return { accountId: number('account_id'), tree: new MonthTree(start) };
}

type Digested = Pick<MonthTreeRow, 'account_id' | 'calls' | 'spent' | 'held' | 'loss' | 'root'>;

/** One hash over the trees of a month, in the order of their accounts. */
export function digestOf(trees: Iterable<Digested>): string {
  const hash = createHash('sha256');
  for (const { account_id, calls, spent, held, loss, root } of trees)
    hash.update(`${account_id} ${calls} ${spent} ${held} ${loss} ${Buffer.from(root).toString('hex')}\n`);
  return hash.digest('hex');
}
