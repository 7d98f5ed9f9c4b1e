import { listRefusals, noteRefusals } from '../programs/refusals.ts';
import { reportUsage } from '../programs/usage-report.ts';
import type { UsageStore } from '../usage-store.ts';
import type { Connections } from './connections.ts';
import { readProgram, runProgram } from './directory.ts';
import { BEGIN_BRIEF } from './locks.ts';
import { ONE_MOMENT } from './slices.ts';

export function postgresUsage(connections: Connections, nowMs: () => number): UsageStore {
  return {
    report: (query) => connections.transaction((sql) => runProgram(sql, reportUsage(query)), ONE_MOMENT),
    noteRefusals: (batch) =>
      connections.transaction((sql) => runProgram(sql, noteRefusals(batch, nowMs())), BEGIN_BRIEF),
    listRefusals: (filter, page) => readProgram(connections, listRefusals(filter, page)),
  };
}
