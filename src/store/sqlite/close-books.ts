import { LIMITS } from '../../limits.ts';
import { inSlices, type SlicePace } from '../in-slices.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import type { WriterVerbs } from './writer-verbs.ts';

interface ClosingTerms {
  readonly scan: Link<ScannerVerbs>['call'];
  readonly writer: Link<WriterVerbs>;
  readonly nowMs: number;
  readonly forgetBeforeMs: number | null;
  readonly pace: SlicePace;
}

export const PACES: Readonly<Record<'besideCalls' | 'alone', SlicePace>> = {
  besideCalls: { rowsMax: LIMITS.storeWriteSliceRows, pauseMs: LIMITS.closingPauseMs },
  alone: { rowsMax: LIMITS.storeAloneSliceRows, pauseMs: 0 },
};

/** The scanner prepares each slice while the writer serves calls; the writer only writes it. */
export async function closeBooks(terms: ClosingTerms): Promise<{ closed: number; forgotten: number }> {
  const { scan, writer, nowMs, forgetBeforeMs, pace } = terms;
  const { rowsMax } = pace;
  await inSlices({
    pace,
    prepare: () => scan('nextWithoutTree', nowMs, rowsMax),
    write: (slice) => writer.call('addToTrees', nowMs, slice),
  });
  await inSlices({
    pace,
    prepare: () => scan('nextWithoutUsage', rowsMax),
    write: (slice) => writer.call('addUsage', nowMs, slice),
  });
  const closed = await inSlices({
    pace,
    prepare: () => scan('nextSettled', nowMs, rowsMax),
    write: (slice) => writer.call('closeSlice', nowMs, slice),
  });
  if (forgetBeforeMs === null) return { closed, forgotten: 0 };
  const forgotten = await inSlices({
    pace,
    prepare: () => scan('nextExpired', forgetBeforeMs, nowMs, rowsMax),
    write: (slice) => writer.call('deleteSlice', nowMs, slice),
  });
  return { closed, forgotten };
}
