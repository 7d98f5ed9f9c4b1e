import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { formatUsd } from '../../money/nanousd.ts';
import { StoreRefused } from '../store.ts';
import { databaseFile, openToRead } from './database.ts';
import { readMark } from './mark-file.ts';
import { NO_PROGRESS, type Progress, readProgress } from './progress.ts';

/** What a ledger once had and has no longer. */
export interface Loss {
  readonly receipts: bigint;
  readonly spentNanousd: bigint;
}

export const NO_LOSS: Loss = { receipts: 0n, spentNanousd: 0n };

/** Commits whose results callers have seen are missing from the ledger. */
export class LedgerLost extends StoreRefused {
  readonly loss: Loss;

  constructor(folder: string, loss: Loss) {
    super(
      `The ledger in ${folder} is missing confirmed commits, with ${describeLoss(loss)}: the database or its ` +
        'write-ahead log was damaged, deleted or replaced; restore a backup with "tollgate store restore FILE --force", ' +
        `or continue without them with "tollgate store accept-loss --receipts ${loss.receipts}".`,
    );
    this.loss = loss;
  }
}

export function describeLoss({ receipts, spentNanousd }: Loss): string {
  const count = receipts === 1n ? '1 receipt' : `${receipts} receipts`;
  return `${count} ($${formatUsd(spentNanousd)} of spending)`;
}

/**
 * Compares the database with the mark beside it. Call it before any connection that can write is opened: closing one
 * would checkpoint what is left of a damaged log and delete it. Throws `LedgerLost`; returns a notice for the operator.
 */
export function checkMark(folder: string): string | null {
  const mark = readMark(folder);
  const found = progressOf(folder);
  if (typeof mark === 'string') {
    if (found.tip === 0n) return null;
    const file = mark === 'missing' ? 'There is no file' : 'Cannot read the file';
    return `${file} tollgate.mark in ${folder}, so commits lost before now cannot be noticed; a new one is created.`;
  }
  if (lossBetween(mark, found) === null) return null;
  throw new LedgerLost(folder, lossBetween(mark, furthestOf(folder, found)) ?? NO_LOSS);
}

/** Null if nothing is missing. A crash between a commit and its mark leaves the database ahead, which is fine. */
export function lossBetween(mark: Progress, found: Progress): Loss | null {
  if (found.booksId !== mark.booksId) return { receipts: mark.receipts, spentNanousd: mark.spentNanousd };
  if (found.generation === mark.generation && found.tip >= mark.tip) return null;
  return {
    receipts: atLeastZero(mark.receipts - found.receipts),
    spentNanousd: atLeastZero(mark.spentNanousd - found.spentNanousd),
  };
}

function atLeastZero(value: bigint): bigint {
  return value < 0n ? 0n : value;
}

/** Reads the database together with its log, without changing either. */
export function progressOf(folder: string): Progress {
  if (!existsSync(databaseFile(folder))) return NO_PROGRESS;
  const database = openToRead(folder);
  try {
    return readProgress(database);
  } finally {
    database.close();
  }
}

/** The database alone may have more commits, if its log was checkpointed before it was damaged. */
function furthestOf(folder: string, found: Progress): Progress {
  const alone = progressWithoutLog(folder);
  const isFurther = alone.generation === found.generation && alone.tip > found.tip;
  return alone.booksId === found.booksId && isFurther ? alone : found;
}

export function progressWithoutLog(folder: string): Progress {
  if (!existsSync(databaseFile(folder))) return NO_PROGRESS;
  const url = pathToFileURL(databaseFile(folder));
  url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, { readOnly: true, readBigInts: true });
  try {
    return readProgress(database);
  } finally {
    database.close();
  }
}
