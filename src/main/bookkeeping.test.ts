import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { createLog } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { keepBooks } from './bookkeeping.ts';

const DAY_MS = 86_400_000;

/** Closings of the ledger, of which the first ones fail. */
function start(failures: number, receiptsDays: number | null = null, signRoots?: () => Promise<number>) {
  const clock = new ManualClock(Date.UTC(2026, 10, 15));
  const log: Record<string, unknown>[] = [];
  const store = new MemoryStore(clock);
  // This driver has no people.
  const audit = { old: 2 * LIMITS.storePageRowsMax + 5, deletedBeforeMs: new Set<number>() };
  const forgetAudit = async (beforeMs: number, limit: number): Promise<number> => {
    const deleted = Math.min(audit.old, limit);
    audit.old -= deleted;
    audit.deletedBeforeMs.add(beforeMs);
    return deleted;
  };
  const forgotten = { invitations: new Set<number>(), managementKeys: new Set<number>() };
  const forgetting = (of: Set<number>) => async (endedBeforeMs: number) => {
    of.add(endedBeforeMs);
    return 0;
  };
  const directory = {
    sweepSessions: async () => 0,
    forgetInvitations: forgetting(forgotten.invitations),
    forgetManagementKeys: forgetting(forgotten.managementKeys),
    forgetAudit,
  };
  Object.defineProperty(store, 'directory', { value: directory });
  const closings: number[] = [];
  store.closeBooks = async () => {
    closings.push(clock.monotonicMs());
    if (closings.length <= failures) throw new Error('The disk is full.');
    return { closed: 1, forgotten: 0 };
  };
  const sweeps: number[] = [];
  store.sweepWindows = async () => sweeps.push(clock.nowMs());
  const keeper = keepBooks(
    {
      config: { retention: { receiptsDays, archiveFolder: null } },
      clock,
      log: createLog({ level: 'info', destination: { write: (line) => void log.push(JSON.parse(line)) } }),
    },
    { store, ids: new IdSource(clock, 1) },
    signRoots,
  );
  /** Lets a closing end, which takes several promises, before the clock moves. */
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { clock, closings, log, keeper, advance, audit, forgotten, sweeps };
}

test('the ledger is closed soon after the start, and then about every ten minutes', async () => {
  const { closings, advance } = start(0);
  await advance(LIMITS.bookkeepingFirstMs);
  await advance(LIMITS.closingPeriodMs - 1);
  expect(closings).toEqual([LIMITS.bookkeepingFirstMs]);
  await advance(1);
  expect(closings).toHaveLength(2);
});

test('a closing that failed is tried again within minutes, and logged, until it succeeds', async () => {
  const { closings, log, advance } = start(2);
  await advance(LIMITS.bookkeepingFirstMs);
  await advance(LIMITS.bookkeepingRetryMs);
  await advance(LIMITS.bookkeepingRetryMs);
  await advance(LIMITS.bookkeepingRetryMs);
  const first = LIMITS.bookkeepingFirstMs;
  expect(closings).toEqual([first, first + LIMITS.bookkeepingRetryMs, first + 2 * LIMITS.bookkeepingRetryMs]);
  expect(LIMITS.bookkeepingRetryMs).toBeLessThanOrEqual(10 * 60_000);
  expect(log.map(({ level, msg }) => [level, msg])).toEqual([
    ['error', 'Closing the ledger failed. Tollgate will try again.'],
    ['error', 'Closing the ledger failed. Tollgate will try again.'],
    ['info', 'Ledger closed.'],
  ]);
});

test('nothing is tried again once it was stopped, not even by a closing under way', async () => {
  const { clock, keeper, advance } = start(1);
  clock.advance(LIMITS.bookkeepingFirstMs);
  keeper.stop();
  await advance(0);
  expect(clock.pendingTimers).toBe(0);
});

test('the audit is deleted once it is older than the receipts that are kept, and else never', async () => {
  const { clock, audit, advance } = start(0, 30);
  await advance(LIMITS.bookkeepingFirstMs);
  expect(audit).toEqual({ old: 0, deletedBeforeMs: new Set([clock.nowMs() - 30 * DAY_MS]) });
  const kept = start(0);
  await kept.advance(LIMITS.bookkeepingFirstMs);
  expect(kept.audit.deletedBeforeMs.size).toBe(0);
});

test('invitations are deleted a month after their end, and management keys with the audit and the alerts that name them', async () => {
  const { clock, forgotten, advance } = start(0, 30);
  await advance(LIMITS.bookkeepingFirstMs);
  expect(forgotten.invitations).toEqual(new Set([clock.nowMs() - 30 * DAY_MS]));
  expect(forgotten.managementKeys).toEqual(new Set([clock.nowMs() - LIMITS.alertKeptMs]));
  const long = start(0, 400);
  await long.advance(LIMITS.bookkeepingFirstMs);
  expect(long.forgotten.managementKeys).toEqual(new Set([long.clock.nowMs() - 400 * DAY_MS]));
  const kept = start(0);
  await kept.advance(LIMITS.bookkeepingFirstMs);
  expect(kept.forgotten.invitations.size).toBe(1);
  expect(kept.forgotten.managementKeys.size).toBe(0);
});

test('roots that cannot be signed are logged, and keep nothing else from being done', async () => {
  const { closings, log, advance, audit } = start(0, 30, () => Promise.reject(new Error('The key is missing.')));
  await advance(LIMITS.bookkeepingFirstMs);
  await advance(LIMITS.closingPeriodMs);
  expect(closings).toHaveLength(2);
  expect(audit.deletedBeforeMs.size).toBe(2);
  expect(log.filter(({ level }) => level === 'error')).toHaveLength(2);
});

test('old spending windows are looked for once a day', async () => {
  const { advance, sweeps } = start(0);
  for (let hour = 0; hour < 60; hour++) await advance(LIMITS.idempotencySweepMs);
  expect(sweeps.map((ms) => new Date(ms).getUTCDate())).toEqual([15, 16, 17]);
});
