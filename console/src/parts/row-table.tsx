import type { ReactNode } from 'react';
import type { RowPages } from '../api/queries.ts';
import { Button } from './button.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { type Column, Table } from './table.tsx';

interface RowTableProps<Each> {
  readonly label: string;
  readonly pages: RowPages<Each>;
  readonly columns: readonly Column<Each>[];
  readonly empty: ReactNode;
  /** Rows to show, if not all that were read. */
  readonly rows?: readonly Each[];
  readonly bleed?: boolean;
  readonly openId?: string | null;
  idOf(row: Each): string;
  onOpen?(row: Each): void;
}

/** A list that is read page by page: its table, a button for more, and what failed. */
export function RowTable<Each>({ pages, rows = pages.rows, bleed = true, ...table }: RowTableProps<Each>): ReactNode {
  if (pages.error !== null) return <ErrorPanel error={pages.error} again={pages.again} />;
  return (
    <>
      <Table {...table} bleed={bleed} rows={rows} isPending={pages.isPending} isStale={pages.isStale} />
      {pages.hasMore ? (
        <div className={bleed ? 'spacing-page py-4' : 'px-4 py-3'}>
          <Button busy={pages.isLoadingMore} onClick={pages.more}>
            Load more
          </Button>
        </div>
      ) : null}
    </>
  );
}
