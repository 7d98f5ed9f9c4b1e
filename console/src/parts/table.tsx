import { type KeyboardEvent, memo, type ReactNode, useCallback, useRef } from 'react';
import { Skeleton } from './skeleton.tsx';

export interface Column<Each> {
  readonly id: string;
  readonly head: ReactNode;
  readonly align?: 'right';
  /** Left out on narrow screens. */
  readonly wideOnly?: boolean;
  /** Left out on small laptops too. */
  readonly roomyOnly?: boolean;
  /** Only on large screens. */
  readonly largeOnly?: boolean;
  /** Takes the room that the other columns leave, and cuts its text off where that is too little. */
  readonly fluid?: boolean;
  readonly className?: string;
  cell(row: Each): ReactNode;
}

interface TableProps<Each> {
  /** What the table lists, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Each>[];
  readonly rows: readonly Each[];
  idOf(row: Each): string;
  /** Makes rows open with a click or Enter; arrow keys move between them. */
  onOpen?(row: Each): void;
  /** The row that is open. */
  readonly openId?: string | null;
  readonly isPending?: boolean;
  /** Rows of the previous filters, while those of the new ones load. */
  readonly isStale?: boolean;
  /** Shown instead of rows if there are none. */
  readonly empty?: ReactNode;
  /** The last row, for totals. */
  readonly foot?: ReactNode;
  /** The table reaches the edges of the page, and its head stays when the page scrolls. */
  readonly bleed?: boolean;
  readonly skeletonRows?: number;
}

export function Table<Each>(props: TableProps<Each>): ReactNode {
  const { label, columns, rows, isPending = false, isStale = false, empty, foot, bleed = false, onOpen } = props;
  const opening = useRef(onOpen);
  opening.current = onOpen;
  const open = useCallback((row: Each) => opening.current?.(row), []);
  if (!isPending && rows.length === 0 && empty !== undefined) return empty;
  return (
    <table
      aria-label={label}
      aria-description={onOpen === undefined ? undefined : 'Arrow keys move between rows, Enter opens one.'}
      aria-busy={isPending || isStale}
      className="w-full border-separate border-spacing-0"
    >
      <thead>
        <tr>
          {columns.map((column, at) => (
            <th
              key={column.id}
              scope="col"
              className={`h-9 border-b border-line text-head font-medium whitespace-nowrap text-muted ${bleed ? 'sticky top-12 z-10 bg-bg wide:top-14 print:static' : ''} ${cellClass(columns, at, bleed)}`}
            >
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className={isStale ? 'opacity-50' : ''}>
        {isPending ? (
          <SkeletonRows {...props} />
        ) : (
          rows.map((row) => {
            const id = props.idOf(row);
            const isOpen = props.openId === id;
            const opens = onOpen === undefined ? undefined : open;
            return <Row key={id} {...{ id, row, columns, bleed, isOpen }} onOpen={opens} />;
          })
        )}
      </tbody>
      {foot === undefined || isPending ? null : <tfoot>{foot}</tfoot>}
    </table>
  );
}

interface RowProps<Each> {
  readonly id: string;
  readonly row: Each;
  readonly columns: readonly Column<Each>[];
  readonly isOpen: boolean;
  readonly bleed: boolean;
  readonly onOpen: ((row: Each) => void) | undefined;
}

function RowView<Each>({ id, row, columns, isOpen, bleed, onOpen }: RowProps<Each>): ReactNode {
  const interaction =
    onOpen === undefined
      ? {}
      : {
          tabIndex: 0,
          onClick: () => onOpen(row),
          onKeyDown: (event: KeyboardEvent<HTMLElement>) => moveOrOpen(event, () => onOpen(row)),
        };
  return (
    <tr
      data-row={id}
      {...interaction}
      {...(isOpen ? { 'aria-current': true } : {})}
      className={`group ${isOpen ? 'bg-accent-soft' : ''} ${onOpen === undefined ? '' : 'cursor-pointer focus-visible:outline-offset-[-2px] hover:bg-raised'}`}
    >
      {columns.map((column, at) => (
        <td
          key={column.id}
          className={`h-9 border-b border-line py-1.5 group-last:border-b-0 ${cellClass(columns, at, bleed)}`}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** A live list changes several times a second, and most of its hundreds of rows stay as they are. */
const Row = memo(RowView) as typeof RowView;

/** Arrow keys move the focus from row to row, Home and End to the first and last one. */
function moveOrOpen(event: KeyboardEvent<HTMLElement>, open: () => void): void {
  if (event.target !== event.currentTarget) return;
  const row = event.currentTarget;
  const targets: Readonly<Record<string, Element | null | undefined>> = {
    ArrowDown: row.nextElementSibling,
    ArrowUp: row.previousElementSibling,
    Home: row.parentElement?.firstElementChild,
    End: row.parentElement?.lastElementChild,
  };
  if (event.key === 'Enter' || event.key === ' ') open();
  else if (!(event.key in targets)) return;
  event.preventDefault();
  const target = targets[event.key];
  if (target instanceof HTMLElement) target.focus();
}

function SkeletonRows<Each>({ columns, bleed = false, skeletonRows = 6 }: TableProps<Each>): ReactNode {
  return Array.from({ length: skeletonRows }, (_, row) => `skeleton-${row}`).map((key) => (
    <tr key={key}>
      {columns.map((column, at) => (
        <td key={column.id} className={`h-9 border-b border-line ${cellClass(columns, at, bleed)}`}>
          <Skeleton className="h-3 w-16" />
        </td>
      ))}
    </tr>
  ));
}

type Placed = Pick<Column<never>, 'align' | 'wideOnly' | 'roomyOnly' | 'largeOnly' | 'fluid' | 'className'>;

/** A cell whose content does not count for the width of its column. On narrow screens there is one such column. */
const FLUID = 'w-full max-w-0 wide:w-1/4';

/** From which width on a column is shown: an index of the rows below. */
function widthOf({ wideOnly, roomyOnly, largeOnly }: Placed): number {
  return largeOnly === true ? 3 : roomyOnly === true ? 2 : wideOnly === true ? 1 : 0;
}

const SHOWN = ['', 'hidden wide:table-cell', 'hidden roomy:table-cell', 'hidden large:table-cell'];
/** Whole names, because the style sheet is made from the names that stand in the sources. */
const ENDS = [
  { inner: 'pr-2', panel: 'pr-4', page: 'pr-4' },
  { inner: 'wide:pr-2', panel: 'wide:pr-4', page: 'wide:pr-7' },
  { inner: 'roomy:pr-2', panel: 'roomy:pr-4', page: 'roomy:pr-7' },
  { inner: 'large:pr-2', panel: 'large:pr-4', page: 'large:pr-7' },
] as const;

/** The padding of the first and last cell lines the table up with the title of its page or panel. */
export function cellClass(columns: readonly Placed[], at: number, bleed: boolean): string {
  const column = columns[at]!;
  // Text after a number would otherwise begin where the number ends.
  const isAfterNumber = column.align !== 'right' && columns[at - 1]?.align === 'right';
  const start = isAfterNumber ? 'pl-2 wide:pl-8' : at > 0 ? 'pl-2' : bleed ? 'pl-4 wide:pl-7' : 'pl-4';
  const side = column.align === 'right' ? 'text-right whitespace-nowrap' : 'text-left';
  const room = column.fluid === true ? FLUID : '';
  return [start, ...endsOf(columns, at, bleed), side, room, SHOWN[widthOf(column)], column.className ?? ''].join(' ');
}

/** Another column is the last one in narrow windows than in wide ones. */
function endsOf(columns: readonly Placed[], at: number, bleed: boolean): readonly string[] {
  return ENDS.map(({ inner, panel, page }, width) => {
    const isLast = columns.findLastIndex((column) => widthOf(column) <= width) === at;
    return isLast ? (bleed ? page : panel) : inner;
  });
}
