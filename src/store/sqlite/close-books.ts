import { LIMITS } from '../../limits.ts';
import { inSlices } from '../in-slices.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import type { WriterVerbs } from './writer-verbs.ts';

export interface ClosingTerms {
  readonly scan: Link<ScannerVerbs>['call'];
  readonly writer: Link<WriterVerbs>;
  readonly nowMs: number;
  readonly forgetBeforeMs: number | null;
}

const rowsMax = LIMITS.storeWriteSliceRows;

/** The scanner prepares each slice while the writer serves calls; the writer only writes it. */
export async function closeBooks(terms: ClosingTerms): Promise<{ closed: number; forgotten: number }> {
  const { scan, writer, nowMs, forgetBeforeMs } = terms;
  await inSlices({
    rowsMax,
    prepare: () => scan('nextWithoutTree'),
    write: (slice) => writer.call('addToTrees', nowMs, slice),
  });
  await inSlices({
    rowsMax,
    prepare: () => scan('nextWithoutUsage'),
    write: (slice) => writer.call('addUsage', nowMs, slice),
  });
  const closed = await inSlices({
    rowsMax,
    prepare: () => scan('nextSettled', nowMs),
    write: (slice) => writer.call('closeSlice', nowMs, slice),
  });
  if (forgetBeforeMs === null) return { closed, forgotten: 0 };
  const forgotten = await inSlices({
    rowsMax,
    prepare: () => scan('nextExpired', forgetBeforeMs, nowMs),
    write: (slice) => writer.call('deleteSlice', nowMs, slice),
  });
  return { closed, forgotten };
}
