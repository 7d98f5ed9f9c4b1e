import type { Config } from '../config/config.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import type { Store } from '../store/store.ts';
import { archiveOld } from './archive-old.ts';
import type { Books } from './books.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface BookkeepingTerms {
  readonly config: Pick<Config, 'retention'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Maintenance while the server runs: closes receipts about every ten minutes and signs the roots of their months, deletes old idempotency keys, spending windows, sessions and invitations every hour. */
export function keepBooks(
  { config, clock, log }: BookkeepingTerms,
  { store, ids }: Pick<Books, 'store' | 'ids'>,
  signRoots: () => Promise<number> = async () => 0,
  /** Called before each closing, which keeps ids below the closed calls out. */
  raiseIds: () => Promise<void> = async () => undefined,
): { stop(): void } {
  const close = async (): Promise<void> => {
    const { receiptsDays, archiveFolder } = config.retention;
    const keptSinceMs = receiptsDays === null ? null : clock.nowMs() - receiptsDays * DAY_MS;
    await raiseIds();
    const { closed, forgotten } = await store.closeBooks(archiveFolder === null ? keptSinceMs : null);
    log[closed + forgotten > 0 ? 'info' : 'debug']({ closed, forgotten }, 'Ledger closed.');
    await signQuietly(signRoots, log);
    if (archiveFolder !== null && keptSinceMs !== null)
      await archiveOld({ store, ids, clock, log, folder: archiveFolder, keptSinceMs });
    if (keptSinceMs !== null) await forgetAudit(store, keptSinceMs, clock.nowMs());
  };
  let windowsSweptOn = -1;
  /** Once a day, because all windows are read to find the old ones. Last, because it waits while the ledger is verified. */
  const sweepWindows = async (): Promise<void> => {
    const today = Math.floor(clock.nowMs() / DAY_MS);
    if (today === windowsSweptOn) return;
    log.debug({ windows: await store.sweepWindows() }, 'Old spending windows deleted.');
    windowsSweptOn = today;
  };
  const sweep = async (): Promise<void> => {
    log.debug({ swept: await store.sweepIdempotencyKeys() }, 'Expired idempotency keys deleted.');
    const sessions = await store.directory.sweepSessions(clock.nowMs(), LIMITS.sessionIdleMs);
    log.debug({ sessions }, 'Ended sessions deleted.');
    const endedBeforeMs = clock.nowMs() - LIMITS.invitationKeptMs;
    await inPages((limit) => store.directory.forgetInvitations(endedBeforeMs, limit));
    await sweepWindows();
  };
  const failed = (error: unknown, what: string): void =>
    log.error({ ...errorFields(error), retry_ms: LIMITS.bookkeepingRetryMs }, what);
  const timers = [
    repeat(clock, LIMITS.closingPeriodMs, close, (error) =>
      failed(error, 'Closing the ledger failed. Tollgate will try again.'),
    ),
    repeat(clock, LIMITS.idempotencySweepMs, sweep, (error) =>
      failed(
        error,
        'Deleting expired idempotency keys, spending windows, sessions and invitations failed. Tollgate will try again.',
      ),
    ),
  ];
  return {
    stop: () => {
      for (const timer of timers) timer.cancel();
    },
  };
}

/** Without its key the gateway cannot sign, but old receipts are still archived and deleted. */
async function signQuietly(signRoots: () => Promise<number>, log: Log): Promise<void> {
  try {
    log.debug({ roots: await signRoots() }, 'Roots of closed months signed.');
  } catch (error) {
    log.error(errorFields(error), 'The roots of closed months cannot be signed. Tollgate will try again.');
  }
}

/** The audit is kept as long as the receipts, and ended management keys as long as the audit and alerts can name them. */
async function forgetAudit({ directory }: Store, keptSinceMs: number, nowMs: number): Promise<void> {
  await inPages((limit) => directory.forgetAudit(keptSinceMs, limit));
  const endedBeforeMs = Math.min(keptSinceMs, nowMs - LIMITS.alertKeptMs);
  await inPages((limit) => directory.forgetManagementKeys(endedBeforeMs, limit));
}

/** So that no deletion keeps calls waiting. */
async function inPages(deletePage: (limit: number) => Promise<number>): Promise<void> {
  let deleted: number;
  do deleted = await deletePage(LIMITS.storePageRowsMax);
  while (deleted >= LIMITS.storePageRowsMax);
}

/** Runs soon after the start, because a process may not live as long as the period, and soon again after a failure. */
function repeat(clock: Clock, periodMs: number, run: () => Promise<void>, onFailure: (error: unknown) => void): Timer {
  let isCancelled = false;
  let timer = clock.after(LIMITS.bookkeepingFirstMs, again, { unref: true });
  function again(): void {
    run().then(
      () => later(periodMs),
      (error: unknown) => {
        onFailure(error);
        later(LIMITS.bookkeepingRetryMs);
      },
    );
  }
  function later(ms: number): void {
    if (!isCancelled) timer = clock.after(ms, again, { unref: true });
  }
  return {
    cancel: () => {
      isCancelled = true;
      timer.cancel();
    },
  };
}
