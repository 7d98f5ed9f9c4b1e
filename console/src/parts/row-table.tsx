import { type ReactNode, useState } from 'react';
import type { RowPages } from '../api/queries.ts';
import { useReadOn } from '../api/read-on.ts';
import { Button } from './button.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { formatCount } from './money-format.ts';
import { type Column, Table } from './table.tsx';

interface RowTableProps<Each> {
  readonly label: string;
  readonly pages: RowPages<Each>;
  readonly columns: readonly Column<Each>[];
  readonly empty: ReactNode;
  /** Rows to show, if not all that were read. */
  readonly rows?: readonly Each[];
  /** Whether `rows` are what somebody searches for: the rest of the list is then read too, because the API has no search. */
  readonly isSearch?: boolean;
  readonly bleed?: boolean;
  readonly openId?: string | null;
  idOf(row: Each): string;
  onOpen?(row: Each): void;
}

/** A list that is read page by page: its table, a button for more, and what failed. */
export function RowTable<Each>(props: RowTableProps<Each>): ReactNode {
  const { pages, rows = pages.rows, isSearch = false, bleed = true, ...table } = props;
  const search = useWholeList(pages, isSearch);
  const [shownMax, setShownMax] = useState(FOUND_SHOWN);
  const failure = pages.error === null ? null : <ErrorPanel error={pages.error} again={pages.again} />;
  // Rows that were read stay if the next ones cannot be read.
  if (failure !== null && pages.rows.length === 0) return failure;
  const shown = isSearch ? rows.slice(0, shownMax) : rows;
  const spacing = bleed ? 'spacing-page py-4' : 'px-4 py-3';
  return (
    <>
      <Table
        {...table}
        bleed={bleed}
        rows={shown}
        isPending={pages.isPending || (search.isReading && rows.length === 0)}
        isStale={pages.isStale}
      />
      {search.isReading || search.isStopped ? (
        <p className={`flex flex-wrap items-center gap-3 text-muted ${spacing}`}>
          {formatCount(pages.rows.length)} searched so far.
          {search.isGivenUp ? ' The next ones could not be read.' : null}
          {search.isStopped ? <Button onClick={search.goOn}>Search on</Button> : null}
        </p>
      ) : null}
      {shown.length < rows.length ? (
        <p className={`flex flex-wrap items-center gap-3 text-muted ${spacing}`}>
          {formatCount(shown.length)} of {formatCount(rows.length)} that match are shown.
          <Button onClick={() => setShownMax((before) => before + FOUND_SHOWN)}>Show more</Button>
        </p>
      ) : null}
      {failure}
      {pages.hasMore && !isSearch && failure === null ? (
        <div className={spacing}>
          <Button busy={pages.isLoadingMore} onClick={pages.more}>
            Load more
          </Button>
        </div>
      ) : null}
    </>
  );
}

/** Thousands of rows at once would make the page slow. */
const FOUND_SHOWN = 200;
/** A search reads this many rows by itself, and more if somebody asks for them. */
const SEARCHED_ROWS = 10_000;

interface Search {
  readonly isReading: boolean;
  readonly isStopped: boolean;
  /** Whether it stopped because the next rows could not be read. */
  readonly isGivenUp: boolean;
  goOn(): void;
}

/** Reads the list to its end, page by page, while somebody searches in it. */
function useWholeList(pages: RowPages<unknown>, isSearch: boolean): Search {
  const [rowsMax, setRowsMax] = useState(SEARCHED_ROWS);
  const { rows, hasMore, error } = pages;
  const isUnfinished = isSearch && hasMore && error === null;
  const isWanted = isUnfinished && rows.length < rowsMax;
  const { isGivenUp, again } = useReadOn(pages, isWanted);
  return {
    isReading: isWanted && !isGivenUp,
    isStopped: isUnfinished && (!isWanted || isGivenUp),
    isGivenUp,
    goOn: isGivenUp ? again : () => setRowsMax((before) => before + SEARCHED_ROWS),
  };
}
