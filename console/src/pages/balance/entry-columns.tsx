import type { ReactNode } from 'react';
import type { Entry } from '../../api/generated/routes.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCounted } from '../../parts/money-format.ts';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { PageLink } from '../../shell/page-link.tsx';

export const ENTRY_TYPES = [
  { value: 'all', label: 'any' },
  { value: 'credit', label: 'credit' },
  { value: 'refund', label: 'refund' },
  { value: 'month', label: 'monthly charge' },
  { value: 'hold', label: 'open hold' },
  { value: 'reservation', label: 'reserved for a job' },
];

const TYPES: Readonly<Record<Entry['type'], { readonly label: string; readonly tone: Tone }>> = {
  credit: { label: 'credit', tone: 'good' },
  refund: { label: 'refund', tone: 'good' },
  month: { label: 'monthly charge', tone: 'neutral' },
  hold: { label: 'open hold', tone: 'warning' },
  reservation: { label: 'reserved', tone: 'warning' },
};

export const ENTRY_COLUMNS: readonly Column<Entry>[] = [
  { id: 'type', head: 'Type', className: 'w-px whitespace-nowrap', cell: (entry) => <EntryType entry={entry} /> },
  {
    id: 'amount',
    head: 'Amount',
    align: 'right',
    className: 'roomy:w-36',
    cell: ({ amount_nanousd, held_nanousd, reserved_nanousd }) => (
      <Money nanousd={held_nanousd ?? reserved_nanousd ?? amount_nanousd} />
    ),
  },
  {
    id: 'reference',
    head: 'Reference',
    fluid: true,
    cell: (entry) => (
      <>
        <Reference entry={entry} />
        <span className="block text-small text-muted wide:hidden">
          <Ago at={entry.created} />
        </span>
      </>
    ),
  },
  {
    id: 'note',
    head: 'Note',
    wideOnly: true,
    fluid: true,
    className: 'text-muted',
    cell: ({ note }) => (
      <span title={note ?? undefined} className="block truncate">
        {note}
      </span>
    ),
  },
  {
    id: 'time',
    head: 'Time',
    align: 'right',
    wideOnly: true,
    className: 'whitespace-nowrap',
    cell: ({ created }) => <Ago at={created} />,
  },
];

/** A credit below zero takes money away. */
function EntryType({ entry }: { readonly entry: Entry }): ReactNode {
  const { label, tone } = TYPES[entry.type];
  if (entry.type === 'credit' && entry.amount_nanousd < 0n) return <Chip tone="warning">correction</Chip>;
  return <Chip tone={tone}>{label}</Chip>;
}

function Reference({ entry }: { readonly entry: Entry }): ReactNode {
  const { id, type, reference, receipt, receipts, created } = entry;
  if (type === 'month')
    return (
      <span className="block truncate">
        {monthName(created)}{' '}
        <span className="hidden text-muted wide:inline">· {formatCounted(receipts, 'request')}</span>
      </span>
    );
  if (type === 'reservation')
    return (
      <PageLink to="/jobs" search={{ open: id }} className="font-mono text-small text-accent hover:underline">
        <span className="block truncate">{id}</span>
      </PageLink>
    );
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      {reference === null ? null : (
        <span title={reference} className="truncate">
          {reference}
        </span>
      )}
      {receipt === null ? null : (
        <PageLink
          to="/requests"
          search={{ open: receipt }}
          className="hidden truncate font-mono text-small text-accent hover:underline wide:inline"
        >
          {receipt}
        </PageLink>
      )}
    </span>
  );
}

function monthName(seconds: number): string {
  return new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' }).format(seconds * 1000);
}
