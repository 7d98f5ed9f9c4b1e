import { systemClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

export interface SliceTerms<Slice extends { readonly rows: number }> {
  /** Rows of a full slice. */
  readonly rowsMax: number;
  /** The next slice; null if none is left. */
  prepare(): Promise<Slice | null>;
  /** False, without a change, if the rows are no longer those that were read. */
  write(slice: Slice): Promise<boolean>;
}

/** Prepares and writes slices until none is left. Pauses after each full one, so that calls get most of the store's time. */
export async function inSlices<Slice extends { readonly rows: number }>(terms: SliceTerms<Slice>): Promise<number> {
  let done = 0;
  let refused = 0;
  for (;;) {
    const slice = await terms.prepare();
    if (slice === null) return done;
    const isWritten = await terms.write(slice);
    refused = isWritten ? 0 : refused + 1;
    if (refused > LIMITS.closingAttemptsMax) throw new Error('Calls were added to a slice while it was closed.');
    if (isWritten) done += slice.rows;
    if (slice.rows >= terms.rowsMax) await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => void systemClock.after(LIMITS.closingPauseMs, resolve));
}

/** Repeats a step until nothing is left to do, and returns the sum. */
export async function untilDone(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const done = await step();
    if (done === 0) return total;
    total += done;
  }
}
