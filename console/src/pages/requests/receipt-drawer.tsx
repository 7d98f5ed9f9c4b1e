import type { KeyboardEvent, ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { ReceiptActions, ReceiptBody } from './receipt-body.tsx';
import { RefusalBody } from './refusal-body.tsx';

interface ReceiptDrawerProps {
  readonly requestId: string;
  /** Ids beside this one in the list; null at its ends. */
  readonly previous: string | null;
  readonly next: string | null;
  onOpen(requestId: string): void;
  onClose(): void;
}

/** One call: its receipt, or why it was refused. Arrow keys go to the one above or below. */
export function ReceiptDrawer({ requestId, previous, next, onOpen, onClose }: ReceiptDrawerProps): ReactNode {
  const receipt = useApi('GET /receipts/{receipt}', { receipt: requestId }, { staleMs: 0 });
  const isUnknown = receipt.error?.status === 404;
  const refusals = useApi('GET /refusals', { request: requestId }, { enabled: isUnknown });
  const refusal = refusals.data?.data[0];
  const move = (event: KeyboardEvent): void => {
    const target = event.key === 'ArrowUp' ? previous : event.key === 'ArrowDown' ? next : null;
    if (target === null) return;
    event.preventDefault();
    onOpen(target);
  };
  return (
    <Drawer
      title={isUnknown ? 'Refused call' : 'Receipt'}
      onClose={onClose}
      onKeyDown={move}
      hint={
        <>
          <IconButton
            icon="up"
            label="Previous call"
            disabled={previous === null}
            onClick={() => onOpen(previous ?? '')}
          />
          <IconButton icon="down" label="Next call" disabled={next === null} onClick={() => onOpen(next ?? '')} />
        </>
      }
      {...(receipt.data === undefined ? {} : { footer: <ReceiptActions receipt={receipt.data} /> })}
    >
      {receipt.data === undefined ? null : <ReceiptBody receipt={receipt.data} />}
      {isUnknown && refusal !== undefined ? <RefusalBody refusal={refusal} /> : null}
      {isUnknown && refusals.data !== undefined && refusal === undefined ? <ErrorPanel error={receipt.error!} /> : null}
      {receipt.error !== null && !isUnknown ? (
        <ErrorPanel error={receipt.error} again={() => void receipt.refetch()} />
      ) : null}
      {receipt.isPending ? <Skeleton className="h-80 w-full" /> : null}
    </Drawer>
  );
}
