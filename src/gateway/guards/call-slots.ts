import { GatewayError } from '../../canonical/errors.ts';

/** Null where a key may have any number. */
export interface SlotsPerKey {
  readonly calls: number | null;
  readonly streams: number | null;
}

/**
 * How many calls each key has under way, and how many of them are streams: hosts have so many connections, and one key
 * must not take them all. A drained stream counts until its host has been heard out. Who has no key has no limit.
 */
export class CallSlots {
  readonly #perKey: SlotsPerKey;
  readonly #onRefused: (what: 'calls' | 'streams') => void;
  readonly #underWay = new Map<bigint, { calls: number; streams: number }>();

  constructor(perKey: SlotsPerKey, onRefused: (what: 'calls' | 'streams') => void = () => {}) {
    this.#perKey = perKey;
    this.#onRefused = onRefused;
  }

  /** Throws when the key has no slot left; what was taken must be freed. */
  take(keyId: bigint | null, isStream: boolean): void {
    if (keyId === null) return;
    const { calls, streams } = this.#perKey;
    const taken = this.#underWay.get(keyId);
    if (taken === undefined) {
      this.#underWay.set(keyId, { calls: 1, streams: isStream ? 1 : 0 });
      return;
    }
    if (calls !== null && taken.calls >= calls) throw this.#refused('calls', calls);
    if (isStream && streams !== null && taken.streams >= streams) throw this.#refused('streams', streams);
    taken.calls++;
    if (isStream) taken.streams++;
  }

  free(keyId: bigint | null, isStream: boolean): void {
    if (keyId === null) return;
    const taken = this.#underWay.get(keyId)!;
    taken.calls--;
    if (isStream) taken.streams--;
    if (taken.calls === 0) this.#underWay.delete(keyId);
  }

  /** Keys with a call under way. */
  get keys(): number {
    return this.#underWay.size;
  }

  #refused(what: 'calls' | 'streams', most: number): GatewayError {
    this.#onRefused(what);
    return new GatewayError('rate_limit_exceeded', {
      param: what === 'streams' ? 'stream' : null,
      message: `This key has ${most} ${what} under way, and no more may run at once. Let one end, then try again.`,
      retryAfterS: 1,
    });
  }
}
