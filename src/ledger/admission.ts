import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

const NO_REPLY = `The ledger did not reply to a test hold within ${LIMITS.admissionProbeMs} ms.`;

/**
 * Whether holds succeed now. The last attempts are the evidence; when they are too old, a test hold takes the same path
 * through the store. Knowledge is at most `admissionFreshMs` old, and a test takes at most `admissionProbeMs`.
 */
export class Admission {
  readonly #clock: Clock;
  readonly #testHold: () => Promise<void>;
  #failure: string | null = null;
  #knownMs = Number.NEGATIVE_INFINITY;
  /** The test hold that has not ended yet; a store that hangs gets no second one. */
  #test: Promise<void> | null = null;

  /** `testHold` throws if the store would admit no call. */
  constructor(clock: Clock, testHold: () => Promise<void>) {
    this.#clock = clock;
    this.#testHold = testHold;
  }

  succeeded(): void {
    this.#failure = null;
    this.#knownMs = this.#clock.monotonicMs();
  }

  failed(reason: string): void {
    this.#failure = reason;
    this.#knownMs = this.#clock.monotonicMs();
  }

  /** Why holds fail, in one sentence; null if they succeed. */
  async whyFailing(): Promise<string | null> {
    if (this.#clock.monotonicMs() - this.#knownMs >= LIMITS.admissionFreshMs) await this.#ask();
    return this.#failure;
  }

  #ask(): Promise<void> {
    this.#test ??= this.#runTest();
    const test = this.#test;
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.failed(NO_REPLY);
        resolve();
      };
      const timer = this.#clock.after(LIMITS.admissionProbeMs, giveUp, { unref: true });
      void test.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  async #runTest(): Promise<void> {
    try {
      await this.#testHold();
      this.succeeded();
    } catch (error) {
      this.failed(reasonOf(error));
    }
    this.#test = null;
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
