import type { Caller } from '../accounts/authenticate.ts';
import { GatewayError } from '../canonical/errors.ts';
import { LIMITS } from '../limits.ts';

/** Limits the lists of receipts that one account reads at the same time: each may look at thousands, and others wait for their turn. */
export class ListPlaces {
  readonly #reading = new Map<bigint, number>();

  async during<Result>({ accountId, keyId }: Caller, read: () => Promise<Result>): Promise<Result> {
    if (keyId === null) return read();
    const reading = this.#reading.get(accountId) ?? 0;
    if (reading >= LIMITS.receiptListsPerAccountMax) throw tooMany();
    this.#reading.set(accountId, reading + 1);
    try {
      return await read();
    } finally {
      const left = this.#reading.get(accountId)! - 1;
      if (left > 0) this.#reading.set(accountId, left);
      else this.#reading.delete(accountId);
    }
  }
}

function tooMany(): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This account reads ${LIMITS.receiptListsPerAccountMax} lists of receipts already, its limit. Wait for one to end, then try again.`,
    retryAfterS: 1,
  });
}
