import { useQueries } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/client.ts';
import { Money } from '../../parts/money.tsx';
import type { Turn } from './conversation.ts';

/** What all turns have cost so far: the sum of their receipts. */
export function RunningCost({ turns }: { readonly turns: readonly Turn[] }): ReactNode {
  const ended = turns.flatMap(({ requestId, hasReceipt, state }) =>
    requestId === null || !hasReceipt || state === 'running' ? [] : [requestId],
  );
  const total = useQueries({
    queries: ended.map((receipt) => ({
      queryKey: ['GET /receipts/{receipt}', { receipt }],
      queryFn: () => call('GET /receipts/{receipt}', { receipt }),
      staleTime: 60_000,
      retry: false,
    })),
    combine: (found) => found.reduce((sum, { data }) => sum + (data?.cost_nanousd ?? 0n), 0n),
  });
  return (
    <span data-cost={String(total)}>
      <Money as="cost" nanousd={total} />
    </span>
  );
}
