import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { hostLosses } from '../programs/host-losses.ts';
import { listRefusals, noteRefusals } from '../programs/refusals.ts';
import { reportUsage } from '../programs/usage-report.ts';
import { ReportSlots } from '../report-slots.ts';
import type { UsageQuery, UsageReport } from '../usage-report.ts';
import type { UsageStore } from '../usage-store.ts';
import type { Connections, RunSql } from './connections.ts';
import { readProgram, runProgram } from './directory.ts';
import { sqlState } from './faults.ts';
import { BEGIN_BRIEF } from './locks.ts';
import { ONE_MOMENT } from './slices.ts';

const BEGIN_REPORT = `${ONE_MOMENT}; SET LOCAL statement_timeout = ${LIMITS.usageStatementMs}`;
/** The server stopped a statement at its time limit. */
const STOPPED = '57014';

export function postgresUsage(
  connections: Pick<Connections, 'transaction' | 'query'>,
  clock: Clock,
  nowMs: () => number,
): UsageStore {
  const reports = new ReportSlots(clock, LIMITS.usageReportsMax);
  return {
    report: (query) =>
      reports.run(query.filter.accountId, () => connections.transaction((sql) => report(sql, query), BEGIN_REPORT)),
    noteRefusals: (batch) =>
      connections.transaction((sql) => runProgram(sql, noteRefusals(batch, nowMs())), BEGIN_BRIEF),
    listRefusals: (filter, page) => readProgram(connections, listRefusals(filter, page)),
    hostLosses: (span) => reports.run(null, () => readProgram(connections, hostLosses(span))),
  };
}

async function report(sql: RunSql, query: UsageQuery): Promise<UsageReport> {
  try {
    return await runProgram(sql, reportUsage(query));
  } catch (error) {
    if (sqlState(error) === STOPPED) return 'too_slow';
    throw error;
  }
}
