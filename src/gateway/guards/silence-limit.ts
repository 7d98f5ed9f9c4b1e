import type { Clock, Timer } from '../../kit/clock.ts';

/**
 * Calls back if nothing arrives for a while. The timer is set again only when it fires, so that a byte costs no timer.
 */
export class SilenceLimit {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #lastMs: number;
  #timer: Timer | null;

  constructor(clock: Clock, limitMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#lastMs = clock.monotonicMs();
    this.#timer = clock.after(limitMs, () => this.#check());
  }

  touch(): void {
    this.#lastMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #check(): void {
    const restMs = this.#lastMs + this.#limitMs - this.#clock.monotonicMs();
    if (restMs > 0) {
      this.#timer = this.#clock.after(restMs, () => this.#check());
      return;
    }
    this.touch();
    this.#timer = this.#clock.after(this.#limitMs, () => this.#check());
    this.#onSilence();
  }
}
