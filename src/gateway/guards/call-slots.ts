import { GatewayError } from '../../canonical/errors.ts';
import { LocalNumbers, type NumbersById } from '../../kit/numbers-by-id.ts';
import { overloaded } from './load.ts';

/** Null means no limit. */
export interface SlotsPerKey {
  readonly calls: number | null;
  readonly streams: number | null;
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
  take(keyId: bigint | null, isStream: boolean): void {
    if (keyId === null) return;
    this.#underWay.lock();
    const taken = this.#underWay.get(keyId) ?? 0;
    const full = this.#fullOf(taken, isStream);
    const hasRoom = full !== null || this.#underWay.set(keyId, taken + unitsOf(isStream));
    this.#underWay.unlock();
    if (full !== null) throw this.#refused(full, this.#perKey[full]!);
    if (!hasRoom) throw overloaded();
  }

  free(keyId: bigint | null, isStream: boolean): void {
    if (keyId === null) return;
    this.#underWay.lock();
    const left = this.#underWay.get(keyId)! - unitsOf(isStream);
    if (left > 0) this.#underWay.set(keyId, left);
    else this.#underWay.delete(keyId);
    this.#underWay.unlock();
  }

  /** Takes a slot for other work of a key that lasts as long as a call may. */
  async during<Result>(keyId: bigint | null, work: () => Promise<Result>): Promise<Result> {
    this.take(keyId, false);
    try {
      return await work();
    } finally {
      this.free(keyId, false);
    }
  }

  /** Which of its limits the key has reached. */
  #fullOf(taken: number, isStream: boolean): 'calls' | 'streams' | null {
    const { calls, streams } = this.#perKey;
    if (taken === 0) return null;
    if (calls !== null && taken % ONE_STREAM >= calls) return 'calls';
    return isStream && streams !== null && Math.floor(taken / ONE_STREAM) >= streams ? 'streams' : null;
  }

  /** The number of keys with a running call. */
  get keys(): number {
    return this.#underWay.size;
  }

  #refused(what: 'calls' | 'streams', most: number): GatewayError {
    this.#onRefused(what);
    return new GatewayError('rate_limit_exceeded', {
      param: what === 'streams' ? 'stream' : null,
      message: `This key already runs ${most} ${what}, its limit. Wait for one to end, then try again.`,
      retryAfterS: 1,
    });
  }
}
