import type { DatabaseSync } from 'node:sqlite';
import type { CacheSize } from '../../kit/caches.ts';
import type { Rotation } from '../key-secrets.ts';
import type { AuditRow } from '../people.ts';
import { writeAudit } from '../programs/audit.ts';
import { type DirectoryChange, programOf } from '../programs/directory-programs.ts';
import { type JobChange, jobProgramOf } from '../programs/job-programs.ts';
import { rotateKey } from '../programs/key-rotation.ts';
import { noteKeyUses } from '../programs/key-uses.ts';
import { forgetWindows } from '../programs/old-windows.ts';
import { noteRefusals } from '../programs/refusals.ts';
import type { RefusalBatch } from '../refusals.ts';
import type { ChangedKey, KeyChange, NewAccount, NewKey, NewProviderKey, ProviderKeyUse } from '../store.ts';
import { createAccount } from './accounts.ts';
import { BatchRunner, type CommitGuard, NO_GUARD } from './batch.ts';
import type { BatchBuffer } from './batch-buffer.ts';
import { forgetTable } from './cached-tables.ts';
import { addToTrees, closeSlice, deleteSlice } from './closing.ts';
import type { ClosingSlice, SettledSlice, UsageSlice } from './closing-slices.ts';
import { openToWrite } from './database.ts';
import { runProgram, writtenTable } from './directory.ts';
import { sweepSlice } from './idempotency-keys.ts';
import { beginEpoch, registerPrices, voidSlice } from './instances.ts';
import { createKey, updateKey } from './keys.ts';
import { type LeanOutcome, leanOutcome } from './lean-outcome.ts';
import { LedgerKeeper } from './ledger-keeper.ts';
import type { Served } from './link.ts';
import { Operations } from './operations.ts';
import { deleteProviderKey, noteProviderKeyUse, putProviderKey, resealProviderKey } from './provider-keys.ts';
import { RowCache } from './row-cache.ts';
import { StatementCache } from './statement-cache.ts';
import { writeUsage } from './usage-sums.ts';
import { WriterMemory } from './writer-memory.ts';

export type WriterVerbs = ReturnType<typeof writerVerbs>;

export function openWriter(folder: string, memory = new WriterMemory()): Served<WriterVerbs> {
  const database = openToWrite(folder);
  const keeper = new LedgerKeeper(database, folder, memory);
  const verbs = writerVerbs(database, keeper);
  return {
    verbs,
    together: { verb: 'apply', run: (calls) => applyTogether(verbs, calls as readonly ApplyArgs[]) },
    tick: () => keeper.tick(),
    end: () => {
      keeper.close();
      database.close();
    },
  };
}

type ApplyArgs = [buffer: BatchBuffer, nowMs: number];

/** Threads read the clock one after the other, so the latest of their times is now. */
function applyTogether(verbs: WriterVerbs, calls: readonly ApplyArgs[]): LeanOutcome[][] {
  const nowMs = Math.max(...calls.map(([, callMs]) => callMs));
  return verbs.applyAll(
    calls.map(([buffer]) => buffer),
    nowMs,
  );
}

/** All functions that change the store, for its only writing connection. Each change raises the ledger's tip. */
export function writerVerbs(database: DatabaseSync, guard: CommitGuard = NO_GUARD) {
  const cache = new RowCache(database);
  const operations = new Operations(database, cache);
  const runner = new BatchRunner(database, cache, operations, guard);
  const statements = new StatementCache(database);
  const change = <Result>(run: () => Result): Result => runner.transaction(0, run);
  return {
    ping: (): void => guard.refuseIfGone(),
    cacheSizes: (): CacheSize[] => {
      // As the next batch would begin.
      cache.trim();
      return cache.sizes();
    },
    apply: (buffer: BatchBuffer, nowMs: number): LeanOutcome[] => runner.run(buffer, nowMs).map(leanOutcome),
    applyAll: (buffers: readonly BatchBuffer[], nowMs: number): LeanOutcome[][] =>
      runner.runAll(buffers, nowMs).map((outcomes) => outcomes.map(leanOutcome)),
    beginEpoch: (nowMs: number): bigint => runner.transaction(nowMs, () => beginEpoch(database, cache)),
    voidSlice: (nowMs: number): number => runner.transaction(nowMs, () => voidSlice(database, cache, operations)),
    registerPrices: (nowMs: number, version: string, pricesJson: string): number =>
      runner.transaction(nowMs, () => registerPrices(database, version, pricesJson)),
    ...maintenanceVerbs(database, runner, cache),
    noteRefusals: (nowMs: number, batch: RefusalBatch): void =>
      runner.transaction(nowMs, () => runProgram(statements, noteRefusals(batch, nowMs))),
    heldDrift: (nowMs: number): string[] => runner.transaction(nowMs, () => cache.heldDrift()),
    sweepSlice: (nowMs: number): number => runner.transaction(nowMs, () => sweepSlice(database, nowMs)),
    putProviderKey: (row: NewProviderKey, audit?: AuditRow, replaces?: bigint) =>
      change(() => audited(database, audit, putProviderKey(database, row, replaces), (put) => put === 'stored')),
    noteProviderKeyUse: (id: bigint, use: ProviderKeyUse) => change(() => noteProviderKeyUse(database, id, use)),
    deleteProviderKey: (accountId: bigint, provider: string, audit?: AuditRow) =>
      change(() => audited(database, audit, deleteProviderKey(database, accountId, provider), (isGone) => isGone)),
    resealProviderKey: (id: bigint, before: Uint8Array, after: Uint8Array) =>
      change(() => resealProviderKey(database, id, before, after)),
    changeDirectory: (name: DirectoryChange, args: readonly unknown[]) =>
      change(() => {
        const written = new Set<string | null>();
        const result = runProgram(statements, programOf(name, args), (text) => written.add(writtenTable(text)));
        for (const table of written) if (table !== null) forgetTable(cache, table);
        return result;
      }),
    changeJobs: (name: JobChange, args: readonly unknown[]) =>
      change(() => runProgram(statements, jobProgramOf(name, args))),
    createAccount: (account: NewAccount, audit?: AuditRow) =>
      change(() => audited(database, audit, createAccount(database, account), (made) => made === 'created')),
    createKey: (key: NewKey, audit?: AuditRow) =>
      change(() => audited(database, audit, createKey(database, key, audit), (made) => made === 'created')),
    rotateKey: (id: bigint, rotation: Rotation, audit?: AuditRow) =>
      change(() => runProgram(statements, rotateKey(id, rotation, audit))),
    noteKeyUses: (uses: ReadonlyMap<bigint, number>) => change(() => runProgram(statements, noteKeyUses(uses))),
    updateKey: (id: bigint, changes: KeyChange, audit?: AuditRow, version: bigint | null = null) => {
      cache.forgetKeys(id);
      return change(() => audited(database, audit, updateKey(database, id, changes, version, audit), isChanged));
    },
  };
}

/** What is closed and deleted in slices while calls run. */
function maintenanceVerbs(database: DatabaseSync, runner: BatchRunner, cache: RowCache) {
  return {
    closeSlice: (nowMs: number, slice: SettledSlice): boolean =>
      runner.transaction(nowMs, () => {
        const isClosed = closeSlice(database, slice);
        cache.forgetRows();
        return isClosed;
      }),
    addToTrees: (nowMs: number, slice: ClosingSlice): boolean =>
      runner.transaction(nowMs, () => addToTrees(database, slice)),
    addUsage: (nowMs: number, slice: UsageSlice): boolean =>
      runner.transaction(nowMs, () => writeUsage(database, slice, slice.usage)),
    deleteSlice: (nowMs: number, slice: ClosingSlice): boolean =>
      runner.transaction(nowMs, () => {
        const isDeleted = deleteSlice(database, slice);
        cache.callsDeleted(slice.upTo);
        return isDeleted;
      }),
    forgetWindows: (nowMs: number, ...windows: Parameters<typeof forgetWindows>): void =>
      runner.transaction(nowMs, () => {
        runProgram(database, forgetWindows(...windows));
        cache.forgetRows();
      }),
  };
}

function isChanged(key: ChangedKey): boolean {
  return key !== null && typeof key !== 'string';
}

/** Adds the row of the audit to a change that was made. */
function audited<Result>(
  database: DatabaseSync,
  audit: AuditRow | undefined,
  result: Result,
  isMade: (result: Result) => boolean,
): Result {
  if (audit !== undefined && isMade(result)) runProgram(database, writeAudit(audit));
  return result;
}
