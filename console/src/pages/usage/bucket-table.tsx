import type { ReactNode } from 'react';
import { Money } from '../../parts/money.tsx';
import { type Column, cellClass, Table } from '../../parts/table.tsx';
import { formatBucket } from '../../plots/axis-format.ts';
import type { Plot } from '../../plots/series.ts';
import { ScrolledTable } from './scrolled-table.tsx';
import type { UsageView } from './usage-query.ts';

interface BucketTableProps {
  readonly plot: Plot;
  readonly view: Pick<UsageView, 'bucket' | 'metric'>;
}

interface BucketRow {
  readonly start: number;
  readonly at: number;
}

/** The figures of the plot, the newest first: one row for each of its bars, one column for each of its colours. */
export function BucketTable({ plot, view: { bucket, metric } }: BucketTableProps): ReactNode {
  const show = (value: bigint): ReactNode =>
    metric.value === 'cost' ? <Money nanousd={value} /> : metric.format(value);
  const sum = plot.totals.reduce((total, value) => total + value, 0n);
  const figures = [
    { id: 'total', head: 'Total', values: plot.totals, total: sum },
    ...plot.series.map(({ name, label, values, total }) => ({ id: `series-${name}`, head: label, values, total })),
  ];
  const columns: readonly Column<BucketRow>[] = [
    {
      id: 'start',
      head: `${bucket[0]!.toUpperCase()}${bucket.slice(1)}`,
      className: 'whitespace-nowrap',
      cell: ({ start }) => formatBucket(bucket, start),
    },
    ...figures.map(
      ({ id, head, values }): Column<BucketRow> => ({
        id,
        head: <span className="inline-block max-w-40 truncate align-bottom">{head}</span>,
        align: 'right',
        cell: ({ at }) => show(values[at]!),
      }),
    ),
  ];
  const rows = plot.starts.map((start, at) => ({ start, at })).toReversed();
  const label = `${metric.label} by ${bucket}`;
  return (
    <ScrolledTable label={label}>
      <Table
        label={label}
        columns={columns}
        rows={rows}
        idOf={({ start }) => String(start)}
        foot={
          <tr className="font-semibold">
            <th scope="row" className={`h-9 border-t border-line ${cellClass(columns, 0, false)}`}>
              All
            </th>
            {figures.map(({ id, total }, at) => (
              <td key={id} className={`h-9 border-t border-line ${cellClass(columns, at + 1, false)}`}>
                {show(total)}
              </td>
            ))}
          </tr>
        }
      />
    </ScrolledTable>
  );
}
