import { GatewayError } from '../../canonical/errors.ts';
import { overloaded } from '../../gateway/guards/load.ts';
import { LIMITS } from '../../limits.ts';

/** The places for groups that are sent, or whose results are read, at the same time. Each needs memory. */
export class GroupPlaces {
  #taken = 0;
  readonly #byAccount = new Map<bigint, number>();
  /** The error message for an account that has no place left. */
  readonly #message: string;

  constructor(message: string) {
    this.#message = message;
  }

  /** Takes a place and returns the function that frees it. */
  take(accountId: bigint): () => void {
    const ofAccount = this.#byAccount.get(accountId) ?? 0;
    if (ofAccount >= LIMITS.groupIntakesPerAccountMax)
      throw new GatewayError('rate_limit_exceeded', { message: this.#message, retryAfterS: 5 });
    const reserved = ofAccount === 0 ? 0 : LIMITS.groupPlacesReserved;
    if (this.#taken >= LIMITS.groupIntakesMax - reserved) throw overloaded();
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

export function intakePlaces(): GroupPlaces {
  return new GroupPlaces(
    `${LIMITS.groupIntakesPerAccountMax} groups of this account are being sent already. Send this one when they are done.`,
  );
}

export function resultPlaces(): GroupPlaces {
  return new GroupPlaces(
    `The results of ${LIMITS.groupIntakesPerAccountMax} groups of this account are being read already. Read these when that is done.`,
  );
}
