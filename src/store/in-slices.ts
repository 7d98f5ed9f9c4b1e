import { systemClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

/** How much is done at a time. */
export interface SlicePace {
  /** Rows of a full slice. */
  readonly rowsMax: number;
  /** After each full slice, so that calls get most of the store's time. */
  readonly pauseMs: number;
}

interface SliceTerms<Slice extends { readonly rows: number }> {
  readonly pace: SlicePace;
  /** The next slice; null if none is left. */
  prepare(): Promise<Slice | null>;
  /** False, without a change, if the rows are no longer those that were read. */
  write(slice: Slice): Promise<boolean>;
}

/** Prepares and writes slices until none is left. */
export async function inSlices<Slice extends { readonly rows: number }>(terms: SliceTerms<Slice>): Promise<number> {
  let done = 0;
  let refused = 0;
  for (;;) {
    const slice = await terms.prepare();
    if (slice === null) return done;
    const isWritten = await terms.write(slice);
    refused = isWritten ? 0 : refused + 1;
    if (refused > LIMITS.closingAttemptsMax) throw new Error('Calls were added to a slice while it was being closed.');
    if (isWritten) done += slice.rows;
    if (slice.rows >= terms.pace.rowsMax) await pause(terms.pace.pauseMs);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.after(ms, resolve));
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
