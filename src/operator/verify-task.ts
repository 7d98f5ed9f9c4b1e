import type { Clock } from '../kit/clock.ts';
import type { VerifyProgress } from '../ledger/ledger.ts';
import { OperatorError } from './error.ts';
import type { LedgerView } from './view.ts';

/** Times are in seconds since 1970. */
export interface VerifyTaskView {
  readonly object: 'verification_task';
  readonly status: 'none' | 'running' | 'done' | 'failed';
  readonly started: number | null;
  readonly ended: number | null;
  readonly rows_read: number;
  readonly rows_total: number;
  readonly report: LedgerView | null;
  /** Why it failed. */
  readonly reason: string | null;
}

type Verify = (progress: (done: VerifyProgress) => void) => Promise<LedgerView>;

const NONE: VerifyTaskView = {
  object: 'verification_task',
  status: 'none',
  started: null,
  ended: null,
  rows_read: 0,
  rows_total: 0,
  report: null,
  reason: null,
};

/** Verifies the ledger while the server runs, one at a time: a second one would only make both slower. */
export class VerifyTask {
  readonly #clock: Clock;
  #view: VerifyTaskView = NONE;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get view(): VerifyTaskView {
    return this.#view;
  }

  start(verify: Verify): VerifyTaskView {
    if (this.#view.status === 'running')
      throw new OperatorError('refused', 'A verification is running. GET /manage/v1/system/verify shows its progress.');
    this.#view = { ...NONE, status: 'running', started: this.#now() };
    void this.#run(verify);
    return this.#view;
  }

  async #run(verify: Verify): Promise<void> {
    try {
      const report = await verify(({ rowsRead, rowsTotal }) => {
        this.#view = { ...this.#view, rows_read: rowsRead, rows_total: rowsTotal };
      });
      this.#view = { ...this.#view, status: 'done', ended: this.#now(), report };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#view = { ...this.#view, status: 'failed', ended: this.#now(), reason };
    }
  }

  #now(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}
