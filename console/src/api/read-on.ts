import { useEffect, useState } from 'react';
import type { RowPages } from './queries.ts';

/** A page that fails this often is not asked for again by itself: whatever stands before the gateway may never let it through. */
const FAILURES_MAX = 3;

interface ReadingOn {
  /** Whether the next page failed too often; `again` asks for it once more. */
  readonly isGivenUp: boolean;
  again(): void;
}

/** Reads a list page by page, as long as its next page is wanted. */
export function useReadOn(pages: RowPages<unknown>, isWanted: boolean): ReadingOn {
  const { rows, isPending, isStale, isLoadingMore, isFailed, more } = pages;
  const [failures, setFailures] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a page that arrives, or another search, starts the count again.
  useEffect(() => setFailures(0), [rows.length, isWanted]);
  useEffect(() => {
    if (isFailed) setFailures((before) => before + 1);
  }, [isFailed]);
  const isGivenUp = isWanted && failures >= FAILURES_MAX;
  // After a failure the list is read on once it could be read again: else a gateway that is away would be asked without end.
  const isIdle = !isPending && !isStale && !isLoadingMore && !isFailed;
  useEffect(() => {
    if (isWanted && isIdle && !isGivenUp) more();
  });
  return {
    isGivenUp,
    again: () => {
      setFailures(0);
      more();
    },
  };
}
