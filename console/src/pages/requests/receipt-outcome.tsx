import type { ReactNode } from 'react';
import type { Receipt } from '../../api/generated/routes.ts';
import { Chip, StatusChip } from '../../parts/chip.tsx';

/** How a call went, as a chip. */
export function ReceiptOutcome({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const { http_status: status, ended } = receipt;
  if (ended === null) return <Chip>running</Chip>;
  // A call can answer 200 and still not end well: the host did not finish, or the client left.
  if (ended !== 'complete' && (status === null || status < 400))
    return <Chip tone="warning">{ended.replaceAll('_', ' ')}</Chip>;
  return <StatusChip status={status} />;
}
