import type { KeyboardEvent, ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { isRequestId } from '../../api/request-id.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useAccountInput } from '../../shell/viewer.tsx';
import { ReceiptActions, ReceiptBody } from './receipt-body.tsx';
import { RefusalBody } from './refusal-body.tsx';
import type { RequestRow } from './request-row.ts';
import { useRefusalElsewhere } from './use-refusal-elsewhere.ts';

const NOT_FOUND = 404;
/** How often the receipt of a running call is read again. */
const RUNNING_MS = 2_000;

interface ReceiptDrawerProps {
  readonly requestId: string;
  /** What the list knows of it; null if it is not in the list. */
  readonly kind: RequestRow['kind'] | null;
  /** Ids beside this one in the list; null at its ends. */
  readonly previous: string | null;
  readonly next: string | null;
  onOpen(requestId: string): void;
  onClose(): void;
}

/** One call: its receipt, or why it was refused. Arrow keys go to the one above or below. */
export function ReceiptDrawer({ requestId, kind, previous, next, onOpen, onClose }: ReceiptDrawerProps): ReactNode {
  const account = useAccountInput();
  const isId = isRequestId(requestId);
  const refusals = useApi('GET /refusals', { ...account, request: requestId }, { enabled: isId && kind !== 'receipt' });
  const isAdmitted = kind === 'receipt' || (kind === null && refusals.data?.data.length === 0);
  const receipt = useApi(
    'GET /receipts/{receipt}',
    { receipt: requestId },
    { staleMs: 0, enabled: isAdmitted, refetchMs: RUNNING_MS, refetchWhile: ({ status }) => status === 'open' },
  );
  const elsewhere = useRefusalElsewhere(requestId, { enabled: receipt.error?.status === NOT_FOUND });
  const refusal = refusals.data?.data[0] ?? elsewhere.data ?? undefined;
  const isElsewhere = elsewhere.isLoading || elsewhere.data != null;
  const failure = refusals.error ?? elsewhere.error;
  const isMissing = !isId || (!isElsewhere && receipt.error?.status === NOT_FOUND && failure === null);
  const error = failure ?? (isElsewhere || isMissing ? null : receipt.error);
  const again = (): void => {
    const failed = [refusals, elsewhere].find((each) => each.error !== null) ?? receipt;
    void failed.refetch();
  };
  const move = (event: KeyboardEvent): void => {
    const target = event.key === 'ArrowUp' ? previous : event.key === 'ArrowDown' ? next : null;
    if (target === null) return;
    event.preventDefault();
    onOpen(target);
  };
  const title = refusal === undefined ? 'Receipt' : 'Refused call';
  return (
    <Drawer
      title={title}
      windowTitle={`${title} ${requestId}`}
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
      {refusal === undefined ? null : <RefusalBody refusal={refusal} />}
      {error === null ? null : <ErrorPanel error={error} again={again} />}
      {isMissing ? (
        <EmptyState title="No request has this id" action={<Button onClick={onClose}>Go to requests</Button>}>
          {requestId} is not a request that you can see here. It may belong to another account, be mistyped, or be older
          than what is kept: refused calls for 7 days, receipts as long as the operator says.
        </EmptyState>
      ) : null}
      {receipt.data === undefined && refusal === undefined && error === null && !isMissing ? (
        <Skeleton className="h-80 w-full" />
      ) : null}
    </Drawer>
  );
}
