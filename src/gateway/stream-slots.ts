import { GatewayError } from '../canonical/errors.ts';

/** How many streams each key has under way; a drained one counts until its host has been heard out. */
export class StreamSlots {
  /** Null where a key may have any number. */
  readonly #perKeyMax: number | null;
  readonly #onRefused: () => void;
  readonly #underWay = new Map<bigint, number>();

  constructor(perKeyMax: number | null, onRefused: () => void = () => {}) {
    this.#perKeyMax = perKeyMax;
    this.#onRefused = onRefused;
  }

  /** Throws when the key has no slot left; what was taken must be freed. Who has no key has no limit. */
  take(keyId: bigint | null): void {
    if (keyId === null || this.#perKeyMax === null) return;
    const count = this.#underWay.get(keyId) ?? 0;
    if (count >= this.#perKeyMax) {
      this.#onRefused();
      throw tooManyStreams(this.#perKeyMax);
    }
    this.#underWay.set(keyId, count + 1);
  }

  free(keyId: bigint | null): void {
    if (keyId === null || this.#perKeyMax === null) return;
    const count = this.#underWay.get(keyId)! - 1;
    if (count === 0) this.#underWay.delete(keyId);
    else this.#underWay.set(keyId, count);
  }

  /** Keys with a stream under way. */
  get keys(): number {
    return this.#underWay.size;
  }
}

function tooManyStreams(most: number): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    param: 'stream',
    message: `This key has ${most} streams under way, and no more may run at once. Let one end, then try again.`,
    retryAfterS: 1,
  });
}
