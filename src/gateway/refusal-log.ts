import type { Caller } from '../accounts/authenticate.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { CacheSize } from '../kit/caches.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { cutText } from '../kit/cut-text.ts';
import { LIMITS } from '../limits.ts';
import type { Refusal, RefusalCount } from '../store/refusals.ts';
import type { UsageStore } from '../store/usage-store.ts';

interface RefusalLogTerms {
  readonly usage: Pick<UsageStore, 'noteRefusals'>;
  readonly clock: Clock;
  /** The store could not be written. What waits is written with the next attempt. */
  onFailure(error: unknown): void;
}

/** What is known about a call when it is refused. */
export interface RefusedCall {
  readonly id: bigint;
  readonly caller: Caller;
  readonly route: string;
  /** As the caller named it. */
  readonly model: string | null;
  /** What the caller was sent, if the wire has another status for the error. */
  readonly status?: number;
}

const HOUR_MS = 3_600_000;

interface Count {
  readonly of: Omit<RefusalCount, 'refused'>;
  refused: number;
}

/**
 * Counts refused calls and keeps the most recent ones, and writes both in the background. Memory is bounded: of an account
 * that is refused very often only the latest calls are kept, but all are counted. What was not written yet when the process
 * dies is lost.
 */
export class RefusalLog {
  readonly #terms: RefusalLogTerms;
  #counts = new Map<string, Count>();
  /** By account. */
  #rows = new Map<bigint, LatestRows>();
  #waiting = 0;
  /** When the rows of all accounts were last pruned, and how many were written since. */
  #prunedMs = Number.NEGATIVE_INFINITY;
  #unpruned = 0;
  #timer: Timer | null = null;
  #writing: Promise<void> | null = null;

  constructor(terms: RefusalLogTerms) {
    this.#terms = terms;
  }

  sizes(): CacheSize[] {
    return [
      { cache: 'refusals', entries: this.#waiting, entriesMax: LIMITS.refusalsWaitingMax },
      { cache: 'refusal_counts', entries: this.#counts.size, entriesMax: LIMITS.refusalCountsMax },
    ];
  }

  /** The message is the one that the caller gets: it quotes no prompt. */
  refused({ id, caller, route, model, status }: RefusedCall, error: GatewayError): void {
    const refusal: Refusal = {
      id,
      accountId: caller.accountId,
      keyId: caller.keyId,
      atMs: this.#terms.clock.nowMs(),
      route,
      model: model === null ? null : cutText(model, LIMITS.modelIdCharsMax),
      status: status ?? error.status,
      code: error.code,
      message: cutText(error.message, LIMITS.refusalMessageCharsMax),
      worstNanousd: error.amounts?.worstNanousd ?? null,
      availableNanousd: error.amounts?.availableNanousd ?? null,
    };
    this.#count(refusal);
    this.#keep(refusal);
    this.#timer ??= this.#terms.clock.after(LIMITS.refusalWriteMs, () => void this.write(), { unref: true });
  }

  #count({ accountId, keyId, code, atMs }: Refusal): void {
    const startMs = Math.floor(atMs / HOUR_MS) * HOUR_MS;
    const name = `${accountId}/${keyId}/${code}/${startMs}`;
    const found = this.#counts.get(name);
    if (found !== undefined) found.refused += 1;
    else if (this.#counts.size < LIMITS.refusalCountsMax)
      this.#counts.set(name, { of: { startMs, accountId, keyId, code }, refused: 1 });
  }

  #keep(refusal: Refusal): void {
    let rows = this.#rows.get(refusal.accountId);
    if (rows === undefined) {
      if (this.#waiting >= LIMITS.refusalsWaitingMax) return;
      rows = new LatestRows();
      this.#rows.set(refusal.accountId, rows);
    }
    if (this.#waiting >= LIMITS.refusalsWaitingMax && !rows.isFull) return;
    if (!rows.isFull) this.#waiting += 1;
    rows.put(refusal);
  }

  /** Writes what waits; resolves when it is stored, or has failed. */
  write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#writing = (this.#writing ?? Promise.resolve()).then(() => this.#writeOnce());
    return this.#writing;
  }

  async #writeOnce(): Promise<void> {
    if (this.#counts.size === 0) return;
    const counts = this.#counts;
    const rows = this.#rows;
    const prunes = this.#isPruneDue(this.#waiting);
    this.#counts = new Map();
    this.#rows = new Map();
    this.#waiting = 0;
    try {
      await this.#terms.usage.noteRefusals({
        counts: [...counts.values()].map(({ of, refused }) => ({ ...of, refused })),
        rows: [...rows.values()].flatMap((latest) => latest.all()),
        prunes,
      });
    } catch (error) {
      this.#terms.onFailure(error);
      this.#takeBack(counts, rows);
    }
  }

  /** Finding the oldest of all rows takes long, so it is not done with every write. */
  #isPruneDue(rows: number): boolean {
    this.#unpruned += rows;
    const nowMs = this.#terms.clock.monotonicMs();
    if (nowMs - this.#prunedMs < LIMITS.refusalPruneMs && this.#unpruned < LIMITS.refusalsWaitingMax) return false;
    this.#prunedMs = nowMs;
    this.#unpruned = 0;
    return true;
  }

  /** Counts and rows are written with the next attempt, as many as there is room for. */
  #takeBack(counts: ReadonlyMap<string, Count>, rows: ReadonlyMap<bigint, LatestRows>): void {
    for (const [name, { of, refused }] of counts) {
      const found = this.#counts.get(name);
      if (found !== undefined) found.refused += refused;
      else if (this.#counts.size < LIMITS.refusalCountsMax) this.#counts.set(name, { of, refused });
    }
    const later = [...this.#rows.values()].flatMap((latest) => latest.all());
    this.#rows = new Map();
    this.#waiting = 0;
    for (const refusal of [...[...rows.values()].flatMap((latest) => latest.all()), ...later]) this.#keep(refusal);
    this.#timer ??= this.#terms.clock.after(LIMITS.refusalWriteMs, () => void this.write(), { unref: true });
  }
}

/** The latest refusals of one account; a further one takes the place of the oldest. */
class LatestRows {
  readonly #rows: Refusal[] = [];
  #next = 0;

  get isFull(): boolean {
    return this.#rows.length >= LIMITS.refusalsWaitingPerAccountMax;
  }

  put(refusal: Refusal): void {
    if (this.isFull) this.#rows[this.#next] = refusal;
    else this.#rows.push(refusal);
    this.#next = (this.#next + 1) % LIMITS.refusalsWaitingPerAccountMax;
  }

  all(): readonly Refusal[] {
    return this.#rows;
  }
}
