import { type Receipt, sumOf } from './receipt.ts';

/** What the calls of a chain have cost, and what they may still cost. Retries of a call share its idempotency key. */
export class Spending {
  readonly budget: bigint | undefined;
  readonly #receipts = new Map<string, Receipt>();
  /** The most that each unfinished call can cost, by its idempotency key. */
  readonly #bounds = new Map<string, bigint>();

  constructor(budget: bigint | undefined) {
    this.budget = budget;
  }

  /** What the call with this key may cost; undefined without a budget. */
  ceilingFor(key: string): bigint | undefined {
    if (this.budget === undefined) return undefined;
    let left = this.budget - this.spent;
    for (const [other, bound] of this.#bounds) if (other !== key) left -= bound;
    return left < 0n ? 0n : left;
  }

  /** Before a call is sent: it may cost up to this. */
  begin(key: string, ceiling: bigint | undefined): void {
    if (ceiling !== undefined) this.#bounds.set(key, ceiling);
  }

  /** The call cost nothing. */
  free(key: string): void {
    this.#bounds.delete(key);
  }

  /** The receipt of the call: it is settled, or has a bound of its own that is lower than the ceiling. */
  record(key: string, receipt: Receipt): void {
    this.#receipts.set(receipt.requestId, receipt);
    if (receipt.state === 'settled') this.#bounds.delete(key);
    else if (receipt.heldNanousd !== null && this.budget !== undefined) this.#bounds.set(key, receipt.heldNanousd);
  }

  get receipts(): readonly Receipt[] {
    return [...this.#receipts.values()];
  }

  get spent(): bigint {
    return sumOf(this.#receipts.values());
  }
}
