import { type ReactNode, useMemo } from 'react';
import type { Refusal } from '../../api/generated/routes.ts';
import { StatusChip } from '../../parts/chip.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount } from '../../parts/money-format.ts';
import type { Column } from '../../parts/table.tsx';
import { Clock } from '../../parts/time.tsx';
import { formatDuration, timeZoneName } from '../../parts/time-format.ts';
import { useKeyNames } from '../../shell/key-names.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { ReceiptOutcome } from './receipt-outcome.tsx';
import type { RequestRow } from './request-row.ts';

/** What identifies a call, and its cost, come first, so that an open drawer hides neither, on a small laptop either. */
export function useRequestColumns(): readonly Column<RequestRow>[] {
  const nameOf = useKeyNames();
  const { isOperator } = useViewer();
  return useMemo(() => columnsOf(nameOf, isOperator), [nameOf, isOperator]);
}

function columnsOf(nameOf: (key: string) => string, isOperator: boolean): readonly Column<RequestRow>[] {
  const keyOf = (row: RequestRow): string | null => (row.kind === 'receipt' ? row.receipt.key : row.refusal.key);
  return [
    {
      id: 'time',
      head: `Time, ${timeZoneName()}`,
      className: 'whitespace-nowrap text-muted',
      cell: (row) => <Clock at={row.kind === 'receipt' ? row.receipt.created : row.refusal.created} />,
    },
    {
      id: 'status',
      head: 'Status',
      // On a phone the two words of an ending would leave no room for the model.
      className: '[&>span]:whitespace-normal wide:[&>span]:whitespace-nowrap',
      cell: (row) => <Outcome row={row} />,
    },
    {
      id: 'model',
      head: 'Model',
      fluid: true,
      cell: (row) => (row.kind === 'receipt' ? cut(row.receipt.effective_model) : <Refused refusal={row.refusal} />),
    },
    {
      id: 'cost',
      head: 'Cost',
      align: 'right',
      cell: (row) => <Money as="cost" nanousd={row.kind === 'receipt' ? row.receipt.cost_nanousd : 0n} />,
    },
    {
      id: 'key',
      head: 'Key',
      wideOnly: true,
      fluid: true,
      cell: (row) => {
        const key = keyOf(row);
        return <span className="block truncate">{key === null ? '–' : nameOf(key)}</span>;
      },
    },
    ...tokenColumns(),
    {
      id: 'first',
      head: 'First byte',
      align: 'right',
      roomyOnly: true,
      cell: (row) => formatDuration(row.kind === 'receipt' ? row.receipt.first_byte_ms : null),
    },
    {
      id: 'duration',
      head: 'Duration',
      align: 'right',
      wideOnly: true,
      cell: (row) => formatDuration(row.kind === 'receipt' ? row.receipt.duration_ms : null),
    },
    ...(isOperator ? [hostColumn] : []),
    {
      id: 'route',
      head: 'Route',
      largeOnly: true,
      className: 'text-muted',
      cell: (row) => <Route path={row.kind === 'receipt' ? row.receipt.route : row.refusal.route} />,
    },
  ];
}

function cut(text: string): ReactNode {
  return <span className="block truncate">{text}</span>;
}

/** The status alone does not say which of several limits it was. One below the other: beside a long model it would not be seen. */
function Refused({ refusal: { model, code } }: { readonly refusal: Refusal }): ReactNode {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate">{model ?? '–'}</span>
      <span className="truncate text-small text-muted">{code.replaceAll('_', ' ')}</span>
    </span>
  );
}

function Route({ path }: { readonly path: string }): ReactNode {
  return <span className="block max-w-44 truncate">{path.replace('/v1/', '')}</span>;
}

const hostColumn: Column<RequestRow> = {
  id: 'host',
  head: 'Host',
  roomyOnly: true,
  cell: (row) => (
    <span className="block max-w-28 truncate">{row.kind === 'receipt' ? (row.receipt.host ?? '–') : '–'}</span>
  ),
};

function Outcome({ row }: { readonly row: RequestRow }): ReactNode {
  if (row.kind === 'refusal') return <StatusChip status={row.refusal.http_status} />;
  return <ReceiptOutcome receipt={row.receipt} />;
}

function tokenColumns(): readonly Column<RequestRow>[] {
  const column = (id: string, head: string, read: (usage: Usage) => number): Column<RequestRow> => ({
    id,
    head,
    align: 'right',
    wideOnly: true,
    // On small laptops there is room for what a call read and wrote in all.
    roomyOnly: id === 'cached',
    largeOnly: id === 'reasoning',
    cell: (row) => {
      const usage = row.kind === 'receipt' ? row.receipt.usage : null;
      return usage === null ? <span className="text-muted">–</span> : formatCount(read(usage));
    },
  });
  return [
    column('in', 'In', inputTokens),
    column('cached', 'Cached', (usage) => usage.cache_read_tokens),
    column('out', 'Out', (usage) => usage.output_tokens),
    column('reasoning', 'Reasoning', (usage) => usage.reasoning_tokens),
  ];
}

function inputTokens(usage: Usage): number {
  return usage.fresh_tokens + usage.cache_write_tokens + usage.cache_write_1h_tokens + usage.cache_read_tokens;
}

type Usage = NonNullable<Extract<RequestRow, { kind: 'receipt' }>['receipt']['usage']>;
