import type { AttemptResult, AttemptTerms } from './attempt.ts';

/**
 * Asks whether the host of a client that has left may be cancelled. The host goes on in the meantime. If it finishes first, its
 * result waits for the decision.
 */
export class CancelDecision {
  readonly #mayCancel: AttemptTerms['mayCancel'];
  #isPending = false;
  #waiting: AttemptResult | null = null;

  constructor(mayCancel: AttemptTerms['mayCancel']) {
    this.#mayCancel = mayCancel;
  }

  get hasResult(): boolean {
    return this.#waiting !== null;
  }

  /** Calls `cancel` if the host may be cancelled with this result, otherwise `goOn` with the host's own result, if it has one. */
  ask(
    cancelled: AttemptResult,
    cancel: (result: AttemptResult) => void,
    goOn: (result: AttemptResult | null) => void,
  ): void {
    if (this.#mayCancel === null) {
      cancel(cancelled);
      return;
    }
    this.#isPending = true;
    const decided = (mayCancel: boolean): void => {
      this.#isPending = false;
      if (mayCancel) cancel(cancelled);
      else goOn(this.#waiting);
    };
    // Without a decision the call goes on to its own end, where its owner settles it or gets the same error.
    this.#mayCancel(cancelled).then(decided, () => decided(false));
  }

  /** Whether this result must wait for a decision. */
  withholds(result: AttemptResult): boolean {
    if (this.#isPending) this.#waiting ??= result;
    return this.#isPending;
  }
}
