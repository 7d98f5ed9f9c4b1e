import type { ArchiveEngine } from '../archive/archive-engine.ts';
import type { Directory } from '../directory.ts';
import { inSlices } from '../in-slices.ts';
import { ArchiveReader } from '../programs/archive-reader.ts';
import type { Program } from '../programs/program.ts';
import { CLOSING_PACE, deleteSlice } from './closing.ts';
import { ClosingSlices } from './closing-slices.ts';
import type { Connections } from './connections.ts';
import { runProgram } from './directory.ts';
import { takeBookkeeping, tryArchiveLock, underLock } from './locks.ts';
import { ONE_MOMENT } from './slices.ts';

/** A lock keeps other processes from deleting receipts meanwhile. */
export function postgresArchive(connections: Connections, directory: Directory): ArchiveEngine {
  const reader = new ArchiveReader();
  const read = <Result>(program: Program<Result>): Promise<Result> =>
    connections.transaction((sql) => runProgram(sql, program), ONE_MOMENT);
  return {
    directory,
    inThread: true,
    oldestMonth: () => read(reader.oldestMonth()),
    countBefore: (beforeMs) => read(reader.countBefore(beforeMs)),
    starts: (monthMs) => read(reader.starts(monthMs)),
    digest: (monthMs, part) => read(reader.digest(monthMs, part)),
    slice: (after, upTo, beforeMs, nowMs) => read(reader.slice(after, upTo, beforeMs, nowMs)),
    forgetUpTo: (id, onSlice) => underLock(connections, takeBookkeeping, () => forgetUpTo(connections, id, onSlice)),
    alone: (run) =>
      connections.transaction(async (sql) => {
        await sql('SET LOCAL idle_in_transaction_session_timeout = 0');
        return (await tryArchiveLock(sql)) ? run() : null;
      }),
  };
}

function forgetUpTo(
  connections: Connections,
  id: bigint,
  onSlice: (receipts: number) => Promise<void>,
): Promise<number> {
  const slices = new ClosingSlices(connections);
  return inSlices({
    pace: CLOSING_PACE,
    prepare: () => slices.nextArchived(id),
    write: async (slice) => {
      const isWritten = await connections.transaction((sql) => deleteSlice(sql, slice));
      if (isWritten) await onSlice(slice.rows);
      return isWritten;
    },
  });
}
