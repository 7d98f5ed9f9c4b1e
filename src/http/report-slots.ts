import { GatewayError } from '../canonical/errors.ts';
import { LIMITS } from '../limits.ts';

/** Reports that are being made for callers: one for each key, and few at a time, since each reads much. */
export class ReportSlots {
  readonly #taken = new Set<bigint | null>();

  async run<Result>(keyId: bigint | null, report: () => Promise<Result>): Promise<Result> {
    if (this.#taken.has(keyId) || this.#taken.size >= LIMITS.usageReportsMax)
      throw new GatewayError('rate_limit_exceeded', {
        message: `A key has one usage report at a time, and all keys together ${LIMITS.usageReportsMax}. Try again shortly.`,
        retryAfterS: 1,
      });
    this.#taken.add(keyId);
    try {
      return await report();
    } finally {
      this.#taken.delete(keyId);
    }
  }
}
