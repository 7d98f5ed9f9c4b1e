import type { ReactNode } from 'react';
import { useApi } from '../api/queries.ts';
import { useAccountInput } from './viewer.tsx';

const ALERTS_MAX = 100;
const READ_MS = 30_000;

/** How many alerts nobody has seen yet, beside the page that lists them. */
export function AlertBadge(): ReactNode {
  const account = useAccountInput();
  const unseen = useApi(
    'GET /alerts',
    { ...account, status: 'unacknowledged', limit: ALERTS_MAX },
    { refetchMs: READ_MS, staleMs: READ_MS },
  );
  const count = unseen.data?.data.length ?? 0;
  if (count === 0) return null;
  return (
    <span className="rounded-chip bg-warning-soft px-1.5 text-small font-medium text-warning">
      {count === ALERTS_MAX ? `${count}+` : count}
      <span className="sr-only"> not seen</span>
    </span>
  );
}
