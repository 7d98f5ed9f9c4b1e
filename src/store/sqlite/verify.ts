import { LIMITS } from '../../limits.ts';
import type { VerifyProgress, VerifyReport } from '../store.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import { withViolations } from './verification.ts';

type Call = Link<ScannerVerbs>['call'];

interface VerifyTerms {
  readonly scan: Call;
  /** A second thread for long reads. */
  openThread(): Link<ScannerVerbs>;
  readonly nowMs: number;
  readonly sinceMonthMs: number | null;
  readonly usage: boolean;
  progress?(done: VerifyProgress): void;
}

/**
 * Compares the usage sums beside everything else, because both read every closed receipt: in a thread of their own, or in
 * turns if there are too few receipts for that.
 */
export async function verifyLedger(terms: VerifyTerms): Promise<VerifyReport> {
  const { scan, openThread, nowMs, sinceMonthMs, usage } = terms;
  const { rows, closedRows } = await scan('beginVerify', nowMs, sinceMonthMs);
  const rowsTotal = rows + closedRows * (usage ? 2 : 1);
  let rowsRead = 0;
  const tell = (read: number): void => {
    rowsRead += read;
    terms.progress?.({ rowsRead, rowsTotal: Math.max(rowsTotal, rowsRead) });
  };
  const thread = usage && closedRows > LIMITS.storeSliceRows ? openThread() : null;
  const compare: Call = thread === null ? scan : (verb, ...args) => thread.call(verb, ...args);
  try {
    const [report, wrongSums] = await Promise.all([
      recompute(scan, tell),
      usage ? compareUsage(compare, sinceMonthMs, tell) : [],
    ]);
    return withViolations(report, wrongSums);
  } finally {
    await thread?.end();
  }
}

async function recompute(scan: Call, tell: (read: number) => void): Promise<VerifyReport> {
  for (;;) {
    const { read, report } = await scan('stepVerify');
    tell(read);
    // If this thread does the work itself, it can check on the other one only between two turns.
    await nextTurn();
    if (report !== null) return report;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function compareUsage(scan: Call, sinceMonthMs: number | null, tell: (read: number) => void): Promise<string[]> {
  const violations: string[] = [];
  await scan('beginUsageCheck', sinceMonthMs);
  for (;;) {
    const step = await scan('stepUsageCheck');
    violations.push(...step.violations);
    if (step.read > 0) tell(step.read);
    if (step.isDone) return violations;
  }
}
