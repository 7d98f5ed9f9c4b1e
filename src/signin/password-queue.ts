import { LIMITS } from '../limits.ts';
import { SignInError } from './error.ts';

const RETRY_MS = 1000;

/** Bounds how many passwords are hashed at once, and how many wait: hashing takes much memory and time on purpose. */
export class PasswordQueue {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Throws if too many are waiting already. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < LIMITS.passwordHashesMax) this.#running++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= LIMITS.passwordQueueMax)
      throw new SignInError('overloaded', 'Too many people are signing in. Try again in a second.', RETRY_MS);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
