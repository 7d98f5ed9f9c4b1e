import { copyFileSync, existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kit/clock.ts';
import { type AcceptLossReport, BackupRefused } from '../backup.ts';
import { createFile, databaseFile } from './database.ts';
import { describeLoss, type Loss, lossBetween, NO_LOSS, progressOf, progressWithoutLog } from './lost-commits.ts';
import { readMark } from './mark-file.ts';
import { migrate } from './migrate.ts';
import { type Progress, readProgress } from './progress.ts';
import { proveDatabase } from './prove-database.ts';
import {
  draftPath,
  finishReplacement,
  raiseGeneration,
  removeDraft,
  removeUnlessBegun,
  replaceLedger,
  stampedName,
} from './replace-ledger.ts';

interface AcceptLossTerms {
  readonly folder: string;
  /** How many receipts the operator believes are missing; null only reports the number. */
  readonly receipts: bigint | null;
  readonly clock: Clock;
}

/** Continues with what is left of a ledger, and notes in it what is missing. The caller holds the folder's lock. */
export function acceptLoss({ folder, receipts, clock }: AcceptLossTerms): AcceptLossReport {
  finishReplacement(folder);
  const mark = readMark(folder);
  if (typeof mark === 'string' || lossBetween(mark, progressOf(folder)) === null)
    throw new BackupRefused(`Nothing is missing from the ledger in ${folder}: there is no loss to accept.`);
  removeDraft(folder);
  try {
    const found = prepareDraft(folder, clock.nowMs());
    const loss = lossBetween(mark, found) ?? NO_LOSS;
    refuseOtherNumber(loss, receipts);
    const generation = noteLoss(folder, loss, clock.nowMs());
    const keptIn = replaceLedger(folder, generation, stampedName('before-accept-loss', clock.nowMs()));
    return { folder, keptIn, ...loss };
  } catch (error) {
    removeUnlessBegun(folder);
    throw error;
  }
}

function refuseOtherNumber(loss: Loss, typed: bigint | null): void {
  if (typed === loss.receipts) return;
  const not = typed === null ? '' : `, not ${typed}`;
  throw new BackupRefused(
    `The ledger is missing ${describeLoss(loss)}${not}: to continue without them, repeat with --receipts ${loss.receipts}.`,
  );
}

/** Copies the ledger with its log or, if that is damaged, without: whichever verifies and has more commits. */
function prepareDraft(folder: string, nowMs: number): Progress {
  const draft = draftPath(folder);
  createFile(draft);
  if (!existsSync(databaseFile(folder))) return withDraft(draft, (database) => migrate(database));
  const isLogWorse = progressWithoutLog(folder).tip > progressOf(folder).tip;
  const attempts = isLogWorse ? [false, true] : [true, false];
  let refusal: unknown;
  for (const withLog of attempts) {
    copyLedger(folder, withLog);
    try {
      proveDatabase({ file: draft, nowMs, progress: () => undefined, finish: () => undefined });
      return withDraft(draft, () => undefined);
    } catch (error) {
      if (!(error instanceof BackupRefused)) throw error;
      refusal ??= error;
    }
  }
  const why = refusal instanceof Error ? refusal.message : String(refusal);
  throw new BackupRefused(`What is left of the ledger cannot be used, so restore a backup: ${why}`);
}

function copyLedger(folder: string, withLog: boolean): void {
  removeDraft(folder);
  const [file, draft] = [databaseFile(folder), draftPath(folder)];
  copyFileSync(file, draft);
  if (withLog && existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${draft}-wal`);
}

function withDraft(draft: string, run: (database: DatabaseSync) => void): Progress {
  const database = new DatabaseSync(draft, { readBigInts: true });
  try {
    run(database);
    return readProgress(database);
  } finally {
    database.close();
  }
}

function noteLoss(folder: string, { receipts, spentNanousd }: Loss, nowMs: number): bigint {
  let generation = 0n;
  withDraft(draftPath(folder), (database) => {
    generation = raiseGeneration(database, folder);
    database
      .prepare('INSERT INTO accepted_loss VALUES (?, ?, ?, ?)')
      .run(generation, BigInt(nowMs), receipts, spentNanousd);
  });
  return generation;
}
