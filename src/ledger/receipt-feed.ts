import { randomBytes } from 'node:crypto';
import type { Receipt } from '../canonical/receipt.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { idFloorAt } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { type CallOwner, type FeedReads, StoreUnavailable } from '../store/store.ts';

/** Null leaves a condition out. */
export interface FeedFilter {
  readonly accountId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
}

/** The receipt of a call that has ended, or null for a gap: receipts may be missing here. */
export interface FeedEntry {
  /** Where a reader who reconnects continues. */
  readonly cursor: string;
  readonly receipt: Receipt | null;
}

export type FeedListener = (entries: readonly FeedEntry[]) => void;

export interface Subscription {
  /** Where the feed is now. Everything that ends from now on comes after it. */
  readonly cursor: string;
  /** What came after the cursor of a reader who comes back. */
  readonly missed: readonly FeedEntry[];
  end(): void;
}

interface FeedTerms {
  readonly reads: FeedReads;
  readonly clock: Clock;
  /** How long before its hold the id of a call may be made, because its body arrives slowly. */
  readonly idLeadMs: number;
}

/** Readers with the same filter. */
interface Channel {
  readonly filter: FeedFilter;
  readonly run: string;
  readonly listeners: Set<FeedListener>;
  /** The newest, for readers who come back. */
  kept: readonly FeedEntry[];
  sequence: number;
  leftAtMs: number;
}

/** What the last reading of the ledger found. */
interface Seen {
  /** When it began. */
  readonly atMs: number;
  readonly open: ReadonlyMap<bigint, CallOwner>;
  readonly ended: ReadonlySet<bigint>;
}

/**
 * Tells readers which calls have ended, in every process that shares the ledger. While somebody listens the ledger is read
 * every second: a call that was open before and no longer is has ended, and one that began and ended in between is
 * found by the time of its end. Without readers nothing runs.
 */
export class ReceiptFeed {
  readonly #terms: FeedTerms;
  readonly #channels = new Map<string, Channel>();
  #seen: Promise<Seen> | null = null;
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(terms: FeedTerms) {
    this.#terms = terms;
  }

  /** Filters with a reader, or with one who may come back. */
  get channels(): number {
    return this.#channels.size;
  }

  /** Throws StoreUnavailable if the ledger cannot be read. */
  async subscribe(filter: FeedFilter, after: string | null, listener: FeedListener): Promise<Subscription> {
    this.#refuseIfClosed();
    const channel = this.#channelOf(filter);
    this.#seen ??= this.#begin();
    await this.#seen;
    this.#refuseIfClosed();
    channel.listeners.add(listener);
    const end = (): void => {
      channel.listeners.delete(listener);
      channel.leftAtMs = this.#terms.clock.monotonicMs();
    };
    return { cursor: cursorOf(channel), missed: after === null ? [] : missedSince(channel, after), end };
  }

  /** Takes no more readers. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new StoreUnavailable('The server is stopping.');
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#channels.clear();
    this.#seen = null;
  }

  #channelOf(filter: FeedFilter): Channel {
    const name = `${filter.accountId} ${filter.keyId} ${filter.personId}`;
    const leftAtMs = this.#terms.clock.monotonicMs();
    const known = this.#channels.get(name);
    if (known !== undefined) {
      known.leftAtMs = leftAtMs;
      return known;
    }
    this.#makeRoom();
    const run = randomBytes(6).toString('base64url');
    const channel: Channel = { filter, run, listeners: new Set(), kept: [], sequence: 0, leftAtMs };
    this.#channels.set(name, channel);
    return channel;
  }

  /** Forgets the channel that was left longest ago, if there are too many. */
  #makeRoom(): void {
    if (this.#channels.size < LIMITS.receiptFeedChannelsMax) return;
    const left = [...this.#channels].filter(([, { listeners }]) => listeners.size === 0);
    const [oldest] = left.toSorted(([, one], [, other]) => one.leftAtMs - other.leftAtMs);
    if (oldest !== undefined) this.#channels.delete(oldest[0]);
  }

  async #begin(): Promise<Seen> {
    const { reads, clock } = this.#terms;
    const atMs = clock.nowMs();
    try {
      const open = await reads.openCalls(LIMITS.receiptFeedCallsMax);
      this.#readLater(LIMITS.receiptFeedPollMs);
      return { atMs, open: byId(open), ended: new Set() };
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  #readLater(pauseMs: number): void {
    this.#timer = this.#terms.clock.after(pauseMs, () => void this.#readAgain(), { unref: true });
  }

  /** A reading that fails is repeated: what it would have found is found later. It takes a tenth of the time at most. */
  async #readAgain(): Promise<void> {
    const { clock } = this.#terms;
    const before = this.#seen;
    this.#forgetLeft();
    if (before === null) return;
    const beganMs = clock.monotonicMs();
    const next = this.#read(await before).catch(() => before);
    if (this.#seen !== before) return;
    this.#seen = next;
    await next;
    if (this.#seen === next) this.#readLater(Math.max(LIMITS.receiptFeedPollMs, 9 * (clock.monotonicMs() - beganMs)));
  }

  /** The feed stops when the last reader has been gone for a while. */
  #forgetLeft(): void {
    const longAgoMs = this.#terms.clock.monotonicMs() - LIMITS.receiptFeedKeptMs;
    for (const [name, { listeners, leftAtMs }] of this.#channels)
      if (listeners.size === 0 && leftAtMs < longAgoMs) this.#channels.delete(name);
    if (this.#channels.size === 0) this.#stop();
  }

  /**
   * The open calls are read first. A call that is in neither list began after the first reading and was open at the
   * second. The next round finds it, because it looks back to the beginning of this one.
   */
  async #read(before: Seen): Promise<Seen> {
    const { reads, clock, idLeadMs } = this.#terms;
    const callsMax = LIMITS.receiptFeedCallsMax;
    const atMs = clock.nowMs();
    const sinceMs = Math.min(before.atMs, atMs) - LIMITS.receiptFeedSkewMs;
    const open = byId(await reads.openCalls(callsMax));
    const ended = byId(await reads.endedCalls(idFloorAt(sinceMs - idLeadMs), sinceMs, callsMax));
    const found = [
      ...[...before.open.values()].filter(({ id }) => !open.has(id) && !ended.has(id)),
      ...ended.values(),
    ].filter(({ id }) => !before.ended.has(id));
    await this.#tell(found, open.size >= callsMax || ended.size >= callsMax);
    return { atMs, open, ended: new Set(ended.keys()) };
  }

  /** Reads the receipts that somebody wants to see. If there are too many, their readers have a gap. */
  async #tell(found: readonly CallOwner[], isPartial: boolean): Promise<void> {
    const channels = [...this.#channels.values()];
    const wanted = found.filter((call) => channels.some(({ filter }) => isWanted(filter, call)));
    const ids = wanted.slice(-LIMITS.receiptFeedReceiptsMax).map(({ id }) => id);
    const left = wanted.slice(0, -LIMITS.receiptFeedReceiptsMax);
    const receipts = ids.length === 0 ? [] : (await this.#terms.reads.endedReceipts(ids)).toSorted(byEnd);
    for (const channel of channels) {
      const hasGap = isPartial || left.some((call) => isWanted(channel.filter, call));
      const own = receipts.filter((receipt) => isWanted(channel.filter, receipt));
      deliver(channel, hasGap ? [null, ...own] : own);
    }
  }
}

function isWanted({ accountId, keyId, personId }: FeedFilter, call: CallOwner): boolean {
  return (
    (accountId === null || call.accountId === accountId) &&
    (keyId === null || call.keyId === keyId) &&
    (personId === null || call.personId === personId)
  );
}

function deliver(channel: Channel, receipts: readonly (Receipt | null)[]): void {
  if (receipts.length === 0) return;
  const entries = receipts.map((receipt): FeedEntry => {
    channel.sequence++;
    return { cursor: cursorOf(channel), receipt };
  });
  channel.kept = [...channel.kept, ...entries].slice(-LIMITS.receiptFeedKeptMax);
  for (const listener of channel.listeners) listener(entries);
}

function cursorOf({ run, sequence }: Channel): string {
  return `${run}.${sequence}`;
}

/** A gap, if what followed the cursor is no longer known. */
function missedSince(channel: Channel, after: string): readonly FeedEntry[] {
  if (after === cursorOf(channel)) return [];
  const [run, sequence] = after.split('.');
  const missed = channel.kept.slice(-(channel.sequence - Number(sequence)));
  const isKnown = run === channel.run && channel.sequence - Number(sequence) === missed.length;
  return isKnown ? missed : [{ cursor: cursorOf(channel), receipt: null }];
}

function byId(calls: readonly CallOwner[]): ReadonlyMap<bigint, CallOwner> {
  return new Map(calls.map((call) => [call.id, call]));
}

function byEnd(a: Receipt, b: Receipt): number {
  return (a.endedMs ?? 0) - (b.endedMs ?? 0) || (a.id < b.id ? -1 : 1);
}
