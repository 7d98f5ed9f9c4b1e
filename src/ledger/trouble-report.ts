import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

/** Commits fail, or the store's health does not allow new calls. */
export type Trouble = 'writing' | 'admitting';

/** Called with why there is trouble, and later with null, when it is over. */
export type OnTrouble = (trouble: Trouble, why: unknown) => void;

/** Reports trouble with the store once, and its end once, however many calls it concerns: their callers learn no details. */
export class TroubleReport {
  readonly #writing: Spell;
  readonly #admitting: Spell;

  constructor(clock: Clock, onTrouble: OnTrouble = () => undefined) {
    this.#writing = new Spell(clock, (why) => onTrouble('writing', why));
    this.#admitting = new Spell(clock, (why) => onTrouble('admitting', why));
  }

  /** Returns the same. Only a commit shows that the ledger can be written. */
  async ofCommit<Result>(commit: Promise<Result>): Promise<Result> {
    try {
      const result = await commit;
      this.#writing.succeeded();
      return result;
    } catch (error) {
      this.#writing.failed(error);
      throw error;
    }
  }

  /** Takes why the store allows no new calls, or null, and returns the same. */
  ofHealth(whyNot: string | null): string | null {
    if (whyNot === null) this.#admitting.succeeded();
    else this.#admitting.failed(whyNot);
    return whyNot;
  }
}

/** Failures, one after another, until none has come for a while: a store that fails now and then must not fill the log. */
class Spell {
  readonly #clock: Clock;
  readonly #report: (why: unknown) => void;
  #lastMs: number | null = null;

  constructor(clock: Clock, report: (why: unknown) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  failed(why: unknown): void {
    const isNews = this.#lastMs === null;
    this.#lastMs = this.#clock.monotonicMs();
    if (isNews) this.#report(why);
  }

  succeeded(): void {
    if (this.#lastMs === null || this.#clock.monotonicMs() - this.#lastMs < LIMITS.storeHealthMs) return;
    this.#lastMs = null;
    this.#report(null);
  }
}
