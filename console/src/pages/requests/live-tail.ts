import type { Receipt } from '../../api/generated/routes.ts';
import { chainPlaceOf } from './chain.ts';
import type { RequestFilters } from './request-filters.ts';
import { LIVE_ROWS_MAX } from './request-row.ts';

type Wanted = Pick<RequestFilters, 'model' | 'host' | 'chain' | 'outcome'>;

/** The list with the calls that have ended since it was read. A call that was running then is no longer shown as running. */
export function withLiveTail(
  loaded: readonly Receipt[],
  live: readonly Receipt[],
  filters: Wanted,
): readonly Receipt[] {
  const ended = new Set(live.map(({ id }) => id));
  const current = loaded.filter(({ id, status }) => status !== 'open' || !ended.has(id));
  return [...live.filter((each) => isWanted(each, filters)), ...current];
}

/** The feed knows account and key only, so the other filters are applied here, as the list applies them. */
function isWanted(receipt: Receipt, { model, host, chain, outcome }: Wanted): boolean {
  const { requested_model, effective_model } = receipt;
  if (model !== undefined && ![requested_model, effective_model].includes(model)) return false;
  if (host !== undefined && receipt.host !== host) return false;
  if (chain !== undefined && chainPlaceOf(receipt)?.id !== chain) return false;
  return outcome === 'any' || receipt.ended === outcome;
}

/** What has arrived of the feed, the newest first. */
export interface LiveCalls {
  readonly receipts: readonly Receipt[];
  /** Every call that has ended and has a greater id is in `receipts`; null as long as none was dropped. */
  readonly droppedId: string | null;
}

export const NO_CALLS: LiveCalls = { receipts: [], droppedId: null };

/** Keeps the newest only. */
export function joined(newer: LiveCalls, older: LiveCalls): LiveCalls {
  const all = [...newer.receipts, ...older.receipts];
  const dropped = all.slice(LIVE_ROWS_MAX).map(({ id }) => id);
  return {
    receipts: all.slice(0, LIVE_ROWS_MAX),
    droppedId: newestId([newer.droppedId, older.droppedId, ...dropped]),
  };
}

/** The feed has left some out, and nothing says how old they are. */
export function withGap({ receipts, droppedId }: LiveCalls): LiveCalls {
  return { receipts, droppedId: newestId([droppedId, ...receipts.map(({ id }) => id)]) };
}

/** Ids grow with time. */
function newestId(ids: readonly (string | null)[]): string | null {
  return ids.reduce((newest, id) => ((id ?? '') > (newest ?? '') ? id : newest), null);
}

/** How long a list is at rest before it is read again, for each of its pages: each is a request. */
const REST_MS = 5_000;

/** Decides when to read the list below the live tail again: calls between the two may be missing. */
export class ListReloads {
  #unlisted = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  arrived(): void {
    this.#unlisted += 1;
  }

  /** Calls have ended that the feed did not report. */
  missed(): void {
    this.#unlisted = Number.POSITIVE_INFINITY;
  }

  /** Never while it is read: older calls that somebody asked for would not come, and a slow gateway would never get to the end. */
  takeDue(nowMs: number, isBeingRead: boolean, pageCount: number): boolean {
    if (isBeingRead) this.#readAtMs = nowMs;
    if (this.#unlisted <= LIVE_ROWS_MAX || nowMs - this.#readAtMs < REST_MS * Math.max(1, pageCount)) return false;
    [this.#unlisted, this.#readAtMs] = [0, nowMs];
    return true;
  }
}
