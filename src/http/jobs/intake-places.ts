import { GatewayError } from '../../canonical/errors.ts';
import { overloaded } from '../../gateway/guards/load.ts';
import { LIMITS } from '../../limits.ts';

/** The places for groups that are taken in at the same time. Each needs memory for a slice. */
export class IntakePlaces {
  #taken = 0;
  readonly #byAccount = new Map<bigint, number>();

  /** Takes a place and returns what gives it back. */
  take(accountId: bigint): () => void {
    const ofAccount = this.#byAccount.get(accountId) ?? 0;
    if (this.#taken >= LIMITS.groupIntakesMax) throw overloaded();
    if (ofAccount >= LIMITS.groupIntakesPerAccountMax) throw tooManyIntakes();
    this.#taken++;
    this.#byAccount.set(accountId, ofAccount + 1);
    return () => {
      this.#taken--;
      const rest = (this.#byAccount.get(accountId) ?? 1) - 1;
      if (rest > 0) this.#byAccount.set(accountId, rest);
      else this.#byAccount.delete(accountId);
    };
  }
}

function tooManyIntakes(): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `${LIMITS.groupIntakesPerAccountMax} groups of this account are being sent already. Send this one when they are done.`,
    retryAfterS: 5,
  });
}
