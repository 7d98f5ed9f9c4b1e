import type { Clock, Timer } from './clock.ts';

/**
 * Looks for work from time to time, one look at a time. Each says in how many milliseconds the next one is due at the
 * latest. If a look is requested during another one, it follows right after it, because the first may have missed
 * something.
 */
export class Waker {
  readonly #clock: Clock;
  readonly #look: () => Promise<number>;
  #timer: Timer | null = null;
  #wakesAtMs = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #mustLookAgain = false;
  #isStopped = false;

  /** `look` must not reject. */
  constructor(clock: Clock, look: () => Promise<number>) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Looks after this time, unless an earlier look is already due. */
  wakeIn(ms: number): void {
    const atMs = this.#clock.monotonicMs() + ms;
    if (this.#isStopped || atMs >= this.#wakesAtMs) return;
    this.#timer?.cancel();
    this.#wakesAtMs = atMs;
    this.#timer = this.#clock.after(ms, () => this.#wake(), { unref: true });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Resolves when the current look has ended. */
  async idle(): Promise<void> {
    await this.#looking;
  }

  #wake(): void {
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
    this.#mustLookAgain = this.#looking !== null;
    this.#looking ??= this.#look().then((nextMs) => {
      this.#looking = null;
      this.wakeIn(this.#mustLookAgain ? 0 : nextMs);
    });
  }
}
