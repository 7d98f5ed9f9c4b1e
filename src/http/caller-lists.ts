import type { Caller } from '../accounts/authenticate.ts';
import { GatewayError } from '../canonical/errors.ts';
import { ListRows, TOO_MANY_ROWS } from '../gateway/guards/list-rows.ts';
import type { Clock } from '../kit/clock.ts';
import { Places } from '../kit/places.ts';
import { LIMITS } from '../limits.ts';

interface ListBody {
  readonly data: readonly unknown[];
}

/** Limits the lists that the keys of one account read. Calls without a key are the operator's own and are not limited. */
export class CallerLists {
  readonly #places = new Places(LIMITS.listsPerAccountMax);
  readonly #rows: ListRows;

  constructor(clock: Clock) {
    this.#rows = new ListRows(clock);
  }

  /** A few at a time: each may look at thousands of rows, and the lists of others wait meanwhile. */
  read<List extends ListBody>(caller: Caller, read: () => Promise<List>): Promise<List> {
    const inPlace = (): Promise<List> => this.#places.during(caller.accountId, read, tooManyLists);
    return this.countRows(caller, caller.keyId === null ? read : inPlace);
  }

  /** For lists whose reading is limited elsewhere. */
  async countRows<List extends ListBody>({ keyId, accountId }: Caller, read: () => Promise<List>): Promise<List> {
    if (keyId === null) return read();
    const waitMs = this.#rows.waitMs(accountId);
    if (waitMs > 0) throw refusal(TOO_MANY_ROWS, waitMs);
    const list = await read();
    this.#rows.spend(accountId, list.data.length);
    return list;
  }
}

function tooManyLists(): GatewayError {
  return refusal(
    `This account is already reading ${LIMITS.listsPerAccountMax} lists, which is its limit. Wait for one to end, then try again.`,
  );
}

function refusal(message: string, waitMs = 1_000): GatewayError {
  return new GatewayError('rate_limit_exceeded', { message, retryAfterS: Math.ceil(waitMs / 1000) });
}
