import type { Clock } from '../../kit/clock.ts';

/**
 * The database's time, which all replicas share: windows turn, keys expire and books close by it. It is learned with every
 * beat and carried on between two by a clock that never steps.
 */
export class DatabaseTime {
  readonly #clock: Clock;
  readonly #follows: boolean;
  #atMs = 0;
  #learnedMs = 0;

  /** One that does not follow the database is for tests, which decide what time it is. */
  constructor(clock: Clock, follows: boolean) {
    this.#clock = clock;
    this.#follows = follows;
  }

  nowMs(): number {
    if (!this.#follows) return this.#clock.nowMs();
    return Math.floor(this.#atMs + this.#clock.monotonicMs() - this.#learnedMs);
  }

  /** Asks what time it is there; the answer's way here is not counted, so we never run ahead. */
  async learn<Answer extends { readonly now_ms: bigint }>(
    ask: () => Promise<Answer | undefined>,
  ): Promise<Answer | undefined> {
    const answer = await ask();
    if (answer === undefined) return undefined;
    this.#atMs = Number(answer.now_ms);
    this.#learnedMs = this.#clock.monotonicMs();
    return answer;
  }
}

/** The database's clock in milliseconds, as a column of that name. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms';
