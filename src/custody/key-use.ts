import { ObservedResponse } from '../egress/observed-response.ts';
import type { ResponseReceiver } from '../egress/sender.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { ProviderKeyRow, ProviderKeyUse, Store } from '../store/store.ts';

/** What is known about one stored key, shared by all calls that use it. */
interface KeyState {
  rejected: boolean;
  usedMs: number | null;
  /** Number of writes in progress. Until they end, the row in the store may be older than this state. */
  writes: number;
}

/**
 * Records whether providers still accept the stored keys. No call waits for it, and it writes only if a key is refused or
 * accepted again, or if its time of use is more than an hour old.
 */
export class KeyUses {
  readonly #store: Pick<Store, 'noteProviderKeyUse'>;
  readonly #clock: Clock;
  readonly #states = new Map<bigint, KeyState>();

  constructor(store: Pick<Store, 'noteProviderKeyUse'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Stored keys whose state is cached. */
  get size(): number {
    return this.#states.size;
  }

  /** For a call with this key: returns a function that wraps the call's receiver and notes the status of the answer. */
  begin(row: ProviderKeyRow): (receiver: ResponseReceiver) => ResponseReceiver {
    const state = this.#stateOf(row);
    return (receiver) => new ObservedResponse(receiver, (status) => this.#note(row.id, state, status));
  }

  /** Uses the state in the row, because another process may have changed it, unless a write is in progress. */
  #stateOf(row: ProviderKeyRow): KeyState {
    const known = this.#states.get(row.id);
    if (known !== undefined && known.writes > 0) return known;
    const read = { rejected: row.rejectedMs !== null, usedMs: row.usedMs };
    if (known !== undefined) return Object.assign(known, read);
    if (this.#states.size >= LIMITS.cachedProviderKeysMax) this.#states.delete(this.#states.keys().next().value!);
    const state = { ...read, writes: 0 };
    this.#states.set(row.id, state);
    return state;
  }

  #note(id: bigint, state: KeyState, status: number): void {
    const nowMs = this.#clock.nowMs();
    const rejected = saysRejected(status) ?? state.rejected;
    const hasChanged = rejected !== state.rejected;
    if (!hasChanged && state.usedMs !== null && nowMs - state.usedMs < LIMITS.providerKeyUseMs) return;
    state.rejected = rejected;
    state.usedMs = nowMs;
    state.writes++;
    void this.#write(id, { usedMs: nowMs, ...(hasChanged && { rejected }) }).finally(() => state.writes--);
  }

  /** A failed write is ignored: the next call reads the old row and writes again. */
  #write(id: bigint, use: ProviderKeyUse): Promise<void> {
    return this.#store.noteProviderKeyUse(id, use).catch(() => {});
  }
}

/** Null if the status says nothing about the key, as 404 or 429 do. */
function saysRejected(status: number): boolean | null {
  if (status === 401 || status === 403) return true;
  return status >= 200 && status < 300 ? false : null;
}
