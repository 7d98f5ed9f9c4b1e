import { Money } from '../../parts/money.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { secondsOf } from './job-status.tsx';

/** What a job and a group of jobs both have. */
interface Submitted {
  readonly cost_nanousd: bigint | null;
  readonly reserved_nanousd: bigint | null;
  readonly created_at: string;
}

export const costColumn: Column<Submitted> = {
  id: 'cost',
  head: 'Cost',
  align: 'right',
  cell: ({ cost_nanousd }) => <Money as="cost" nanousd={cost_nanousd} />,
};

export const reservedColumn: Column<Submitted> = {
  id: 'reserved',
  head: 'Reserved',
  align: 'right',
  wideOnly: true,
  cell: ({ reserved_nanousd }) => <Money as="cost" nanousd={reserved_nanousd} />,
};

export const createdColumn: Column<Submitted> = {
  id: 'created',
  head: 'Created',
  align: 'right',
  wideOnly: true,
  cell: ({ created_at }) => <Ago at={secondsOf(created_at)} />,
};
