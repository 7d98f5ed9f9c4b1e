import { GatewayError } from '../../canonical/errors.ts';
import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { accountEntry, type Limited } from './account-share.ts';
import { overloaded } from './load.ts';

/** Null means no limit. */
export interface SlotsPerKey {
  readonly calls: number | null;
  readonly streams: number | null;
  /** All keys of one account together may run this many times as many; absent or null: no limit. */
  readonly accountFactor?: number | null;
}

/** More than the calls that one process can run. */
const ONE_STREAM = 2 ** 24;

function unitsOf(isStream: boolean): number {
  return isStream ? 1 + ONE_STREAM : 1;
}

/**
 * Limits how many calls and streams each key may run at once, so that one key cannot take all connections, to a host or of
 * callers. A stream whose client is gone counts until its host has finished. Calls without a key are not limited.
 */
export class CallSlots {
  readonly #perKey: SlotsPerKey;
  readonly #onRefused: (what: 'calls' | 'streams') => void;
  /** The calls of each key, plus `ONE_STREAM` for each of its streams. */
  readonly #underWay: NumbersById;

  constructor(
    perKey: SlotsPerKey,
    onRefused: (what: 'calls' | 'streams') => void = () => {},
    underWay: NumbersById = new LocalNumbers(),
  ) {
    this.#perKey = perKey;
    this.#onRefused = onRefused;
    this.#underWay = underWay;
  }

  /** Throws if the key has no slot left. Every slot that was taken must be freed. */
  take({ keyId, accountId }: Limited, isStream: boolean): void {
    if (keyId === null) return;
    const { accountFactor = null } = this.#perKey;
    this.#underWay.lock();
    let refusal = this.#add(keyId, isStream, null);
    if (refusal === null && accountFactor !== null) {
      refusal = this.#add(accountEntry(accountId), isStream, accountFactor);
      if (refusal !== null) this.#remove(keyId, isStream);
    }
    this.#underWay.unlock();
    if (refusal !== null) throw refusal();
  }

  free({ keyId, accountId }: Limited, isStream: boolean): void {
    if (keyId === null) return;
    this.#underWay.lock();
    this.#remove(keyId, isStream);
    if (this.#perKey.accountFactor != null) this.#remove(accountEntry(accountId), isStream);
    this.#underWay.unlock();
  }

  /** Takes a slot for other work of a key that lasts as long as a call may. */
  async during<Result>(caller: Limited, work: () => Promise<Result>): Promise<Result> {
    this.take(caller, false);
    try {
      return await work();
    } finally {
      this.free(caller, false);
    }
  }

  /** Null if it was added; otherwise returns what makes the refusal. Only accounts have a factor. */
  #add(id: bigint, isStream: boolean, factor: number | null): (() => GatewayError) | null {
    const taken = this.#underWay.get(id) ?? 0;
    const full = this.#fullOf(taken, isStream, factor ?? 1);
    if (full !== null) return () => this.#refused(full, factor);
    return this.#underWay.set(id, taken + unitsOf(isStream)) ? null : overloaded;
  }

  #remove(id: bigint, isStream: boolean): void {
    const left = this.#underWay.get(id)! - unitsOf(isStream);
    if (left > 0) this.#underWay.set(id, left);
    else this.#underWay.delete(id);
  }

  /** Which of its limits the key, or the account, has reached. */
  #fullOf(taken: number, isStream: boolean, factor: number): 'calls' | 'streams' | null {
    const { calls, streams } = this.#perKey;
    if (taken === 0) return null;
    if (calls !== null && taken % ONE_STREAM >= calls * factor) return 'calls';
    return isStream && streams !== null && Math.floor(taken / ONE_STREAM) >= streams * factor ? 'streams' : null;
  }

  /** The number of keys with a running call. */
  get keys(): number {
    return this.#underWay.size;
  }

  #refused(what: 'calls' | 'streams', factor: number | null): GatewayError {
    this.#onRefused(what);
    const most = this.#perKey[what]! * (factor ?? 1);
    const [who, whose] =
      factor === null ? ['This key already runs', 'its'] : ['The keys of this account together already run', 'their'];
    return new GatewayError('rate_limit_exceeded', {
      param: what === 'streams' ? 'stream' : null,
      message: `${who} ${most} ${what}, ${whose} limit. Wait for one to end, then try again.`,
      retryAfterS: 1,
    });
  }
}
