import type { DatabaseSync } from 'node:sqlite';
import type { TimeSpan } from '../host-losses.ts';
import type { MonthPart } from '../month-tree.ts';
import { ArchiveReader } from '../programs/archive-reader.ts';
import { endedCalls, endedReceipts, openCalls } from '../programs/call-feed.ts';
import { type DirectoryRead, programOf } from '../programs/directory-programs.ts';
import { hostLosses } from '../programs/host-losses.ts';
import { type JobRead, jobProgramOf } from '../programs/job-programs.ts';
import { nextOldWindows } from '../programs/old-windows.ts';
import type { Program } from '../programs/program.ts';
import { ReceiptProver } from '../programs/receipt-proof.ts';
import { listRefusals } from '../programs/refusals.ts';
import { UsageCheck } from '../programs/usage-check.ts';
import { reportUsage } from '../programs/usage-report.ts';
import type { RefusalFilter, RefusalPage } from '../refusals.ts';
import type { AccountReceiptFilter, Page, ReceiptFilter, ReceiptPage, VerifyReport } from '../store.ts';
import type { UsageQuery } from '../usage-report.ts';
import { AccountReader } from './accounts.ts';
import { ClosingSlices } from './closing-slices.ts';
import { atOneMoment, openToRead } from './database.ts';
import { runProgram } from './directory.ts';
import { KeyReader, spendingOf } from './keys.ts';
import type { Served } from './link.ts';
import { listedCalls } from './listed-calls.ts';
import { ReceiptReader } from './receipts.ts';
import { Verification, type VerifySize } from './verification.ts';

type SpendingTerms = Parameters<typeof spendingOf> extends [unknown, ...infer Rest] ? Rest : never;

/** Steps of comparing the usage sums that are done at a time. */
const USAGE_STEPS = 10;

export type ScannerVerbs = ReturnType<typeof scannerVerbs>;

export function openScanner(folder: string): Served<ScannerVerbs> {
  const database = openToRead(folder);
  return { verbs: scannerVerbs(database), end: () => database.close() };
}

/** Long reads, for a thread of their own. */
function scannerVerbs(database: DatabaseSync) {
  const accounts = new AccountReader(database);
  const keys = new KeyReader(database);
  const receipts = new ReceiptReader(database);
  const closing = new ClosingSlices(database);
  const archive = new ArchiveReader();
  const prover = new ReceiptProver(listedCalls);
  const reading = <Result>(program: Program<Result>): Result =>
    atOneMoment(database, () => runProgram(database, program));
  let verification: Verification | null = null;
  let usageCheck: UsageCheck | null = null;
  let wrongSums: string[] = [];
  return {
    listAccounts: (page: Page) => accounts.list(page),
    listKeys: (accountId: bigint | null, page: Page) => keys.list(accountId, page),
    spendingOf: (...terms: SpendingTerms) => spendingOf(database, ...terms),
    listReceipts: (filter: ReceiptFilter, page: Page) => receipts.list(filter, page),
    // Calls that begin between its statements would move the end of the page, and the next one would repeat receipts.
    listAccountReceipts: (filter: AccountReceiptFilter, page: ReceiptPage) =>
      atOneMoment(database, () => receipts.listOfAccount(filter, page)),
    openCalls: (limit: number) => runProgram(database, openCalls(limit)),
    endedCalls: (fromId: bigint, sinceMs: number, limit: number) =>
      runProgram(database, endedCalls(fromId, sinceMs, limit)),
    endedReceipts: (ids: readonly bigint[]) => runProgram(database, endedReceipts(ids)),
    nextWithoutTree: (nowMs: number, rowsMax: number) => closing.nextWithoutTree(nowMs, rowsMax),
    nextWithoutUsage: (rowsMax: number) => closing.nextWithoutUsage(rowsMax),
    nextSettled: (nowMs: number, rowsMax: number) => closing.nextSettled(nowMs, rowsMax),
    nextExpired: (beforeMs: number, nowMs: number, rowsMax: number) => closing.nextExpired(beforeMs, nowMs, rowsMax),
    nextArchived: (upTo: bigint, rowsMax: number) => closing.nextArchived(upTo, rowsMax),
    nextOldWindows: (...terms: Parameters<typeof nextOldWindows>) => reading(nextOldWindows(...terms)),
    archiveMonth: () => reading(archive.oldestMonth()),
    archiveCount: (beforeMs: number) => reading(archive.countBefore(beforeMs)),
    archiveStarts: (monthMs: number) => reading(archive.starts(monthMs)),
    archiveDigest: (monthMs: number, part: MonthPart) => reading(archive.digest(monthMs, part)),
    archiveSlice: (after: bigint, upTo: bigint, beforeMs: number, nowMs: number) =>
      reading(archive.slice(after, upTo, beforeMs, nowMs)),
    readJobs: (name: JobRead, args: readonly unknown[]) => runProgram(database, jobProgramOf(name, args)),
    readDirectory: (name: DirectoryRead, args: readonly unknown[]) => runProgram(database, programOf(name, args)),
    prove: (id: bigint, accountId: bigint) => reading(prover.prove(id, accountId)),
    reportUsage: (query: UsageQuery) => reading(reportUsage(query, listedCalls)),
    listRefusals: (filter: RefusalFilter, page: RefusalPage) => runProgram(database, listRefusals(filter, page)),
    hostLosses: (span: TimeSpan) => runProgram(database, hostLosses(span)),
    beginVerify: (nowMs: number, sinceMonthMs: number | null): VerifySize => {
      verification = new Verification(database, nowMs, sinceMonthMs);
      return verification.size;
    },
    stepVerify: (): { read: number; report: VerifyReport | null } => {
      if (verification === null) throw new Error('No verification is running.');
      const before = verification.rowsRead;
      const report = verification.step();
      return { read: verification.rowsRead - before, report };
    },
    beginUsageCheck: (sinceMonthMs: number | null): void => {
      wrongSums = [];
      usageCheck = new UsageCheck(sinceMonthMs, (sentence) => wrongSums.push(sentence));
    },
    /** Several steps: a command that verifies in its main thread asks for the next ones only now and then. */
    stepUsageCheck: (): { read: number; isDone: boolean; violations: string[] } => {
      if (usageCheck === null) throw new Error('No comparison of sums is running.');
      let [read, isDone] = [0, false];
      for (let step = 0; step < USAGE_STEPS && !isDone; step++) {
        const found = reading(usageCheck.step());
        isDone = found === null;
        read += found ?? 0;
      }
      return { read, isDone, violations: wrongSums.splice(0) };
    },
  };
}
