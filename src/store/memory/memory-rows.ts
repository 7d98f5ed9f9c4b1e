import type { Receipt } from '../../canonical/receipt.ts';
import { LIMITS } from '../../limits.ts';
import { windowOfId } from '../codes.ts';
import type { IdempotencyRow } from '../idempotency.ts';
import type { Job, JobChunk, JobEvent, JobGroup } from '../jobs.ts';
import type { Membership, Person } from '../people.ts';
import { keptWindowsMs } from '../programs/old-windows.ts';
import type { GroupRow, JobRow, JobTotals } from '../rules/job-rules.ts';
import type { Call, LedgerRows, Mutable, Spend } from '../rules/rows.ts';
import type { Account, CreditOperation, KeyRow, Page, ProviderKeyRow } from '../store.ts';
import { startOfDayMs, startOfMonthMs } from '../windows.ts';

export type MemoryJob = Mutable<Job> & JobRow;
type MemoryGroup = Mutable<JobGroup> & GroupRow;

/** Everything that the memory driver stores. */
export class MemoryRows implements LedgerRows {
  readonly accounts = new Map<bigint, Mutable<Account>>();
  readonly keys = new Map<bigint, KeyRow>();
  readonly people = new Map<bigint, Person>();
  readonly members = new Map<string, Membership>();
  readonly windows = new Map<string, Spend>();
  readonly personWindows = new Map<string, Spend>();
  readonly calls = new Map<bigint, Call>();
  readonly forgotten: Receipt[] = [];
  readonly credits = new Map<bigint, CreditOperation>();
  readonly refunds = new Map<bigint, bigint>();
  readonly prices = new Map<number, { readonly version: string; readonly pricesJson: string }>();
  readonly providerKeys = new Map<bigint, ProviderKeyRow>();
  readonly idempotencyKeys = new Map<string, IdempotencyRow>();
  readonly jobs = new Map<bigint, MemoryJob>();
  readonly jobGroups = new Map<bigint, MemoryGroup>();
  readonly jobTotals = new Map<bigint, JobTotals>();
  readonly jobEvents: JobEvent[] = [];
  readonly jobChunks = new Map<string, JobChunk>();
  readonly epochs = new Set<bigint>();
  epoch = 0n;
  keyVersion = 0n;
  closedUpTo = 0n;
  /** The month of each closed receipt. */
  readonly months = new Map<bigint, number>();
  latestMs = Number.NEGATIVE_INFINITY;
  todayMs = 0;

  jobOfCall(callId: bigint): MemoryJob | undefined {
    return [...this.jobs.values()].find((job) => job.callId === callId);
  }

  get lastCallId(): bigint {
    return [...this.calls.keys()].reduce((last, id) => (id > last ? id : last), this.closedUpTo);
  }

  /** A time in the future begins no month. */
  close({ id, createdMs }: Receipt, nowMs: number): void {
    this.closedUpTo = id;
    if (createdMs <= nowMs) this.latestMs = Math.max(this.latestMs, createdMs);
    else if (this.latestMs === Number.NEGATIVE_INFINITY) this.latestMs = nowMs;
    this.months.set(id, startOfMonthMs(this.latestMs));
  }

  /** Deletes old windows in which nothing counts any more, and returns how many. */
  forgetWindows(nowMs: number): number {
    const firstKeptMs = startOfDayMs(keptWindowsMs(nowMs, this.closedUpTo));
    const isOldWindow = (id: bigint | null): boolean => {
      const counted = id === null ? null : windowOfId(id);
      return counted !== null && counted.window !== 'lifetime' && counted.startMs < firstKeptMs;
    };
    const mayBeOld = ({ state, expiresMs, windowId, personWindowId }: MemoryJob) =>
      state === 'paused' || (state === 'queued' && expiresMs <= nowMs && [windowId, personWindowId].some(isOldWindow));
    if ([...this.jobs.values()].some(mayBeOld)) return 0;
    const isOld = (name: string, { heldNanousd, reservedNanousd }: Spend): boolean => {
      const [, window, startMs] = name.split(' ');
      return window !== 'lifetime' && Number(startMs) < firstKeptMs && heldNanousd === 0n && reservedNanousd === 0n;
    };
    let forgotten = 0;
    for (const windows of [this.windows, this.personWindows]) {
      for (const [name, spend] of windows) if (isOld(name, spend) && windows.delete(name)) forgotten += 1;
    }
    return forgotten;
  }

  receipts(): Receipt[] {
    return [...this.calls.values()].map((call) => call.receipt).sort(byId);
  }
}

export function byId(a: { readonly id: bigint }, b: { readonly id: bigint }): number {
  return a.id < b.id ? -1 : 1;
}

export function pageOf<Row extends { readonly id: bigint }>(rows: readonly Row[], page: Page): Row[] {
  const rest = page.after === null ? rows : rows.filter((row) => row.id > page.after!);
  return rest.slice(0, Math.min(page.limit, LIMITS.storePageRowsMax));
}
