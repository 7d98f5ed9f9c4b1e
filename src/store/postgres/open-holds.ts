import { LIMITS } from '../../limits.ts';
import type { LedgerOperation } from '../store.ts';
import type { BatchRows } from './batch-rows.ts';
import type { BatchWrites } from './batch-writes.ts';
import type { OpenHold, OpenHoldLookup } from './open-hold.ts';

/** Open holds of this process. Ending one needs no read: the write checks that it was still open. */
export class OpenHolds implements OpenHoldLookup {
  readonly #holds = new Map<bigint, OpenHold>();

  get size(): number {
    return this.#holds.size;
  }

  find(id: bigint): OpenHold | null {
    return this.#holds.get(id) ?? null;
  }

  /** Call after the commit. If there are too many, the oldest are dropped. */
  note({ holds, settles, voids }: BatchWrites, rows: BatchRows): void {
    for (const { id, accountId, amountNanousd: heldNanousd, idempotency } of holds) {
      const { windowName, personWindowName } = rows.calls.get(id)!;
      const idempotencyKey = idempotency?.key ?? null;
      this.#holds.set(id, { accountId, heldNanousd, windowName, personWindowName, idempotencyKey });
    }
    for (const { id } of settles) this.#holds.delete(id);
    for (const { id } of voids) this.#holds.delete(id);
    for (const id of this.#holds.keys()) {
      if (this.#holds.size <= LIMITS.storeCachedRowsMax) break;
      this.#holds.delete(id);
    }
  }

  /** Drops the calls that these operations end, because what is cached of them may be wrong. */
  forgetAll(operations: readonly LedgerOperation[]): void {
    for (const { kind, id } of operations) if (kind !== 'hold') this.#holds.delete(id);
  }

  forget(): void {
    this.#holds.clear();
  }
}
