import { GatewayError } from '../../canonical/errors.ts';

/** Null means no limit. */
export interface SlotsPerKey {
  readonly calls: number | null;
  readonly streams: number | null;
}

/**
 * Limits how many calls and streams each key may run at once, so that one key cannot take all connections to a host. A
 * stream whose client is gone counts until its host has finished. Calls without a key are not limited.
 */
export class CallSlots {
  readonly #perKey: SlotsPerKey;
  readonly #onRefused: (what: 'calls' | 'streams') => void;
  readonly #underWay = new Map<bigint, { calls: number; streams: number }>();

  constructor(perKey: SlotsPerKey, onRefused: (what: 'calls' | 'streams') => void = () => {}) {
    this.#perKey = perKey;
    this.#onRefused = onRefused;
  }

  /** Throws if the key has no slot left. Every slot that was taken must be freed. */
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
