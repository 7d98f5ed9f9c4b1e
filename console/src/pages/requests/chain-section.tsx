import type { ReactNode } from 'react';
import type { Receipt } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { formatExact } from '../../parts/money-format.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { type ChainPlace, chainPlaceOf, inOrderOfChain, sumOfChain } from './chain.ts';
import { ReceiptOutcome } from './receipt-outcome.tsx';
import type { Requests } from './use-requests.ts';

/** A chain has at most 99 places, so if there are more calls, the id was used again. */
const MEMBERS_MAX = 200;

/** The calls of the chain that a receipt belongs to, and what they cost together. */
export function ChainSection({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const chain = chainPlaceOf(receipt);
  return chain === null ? null : <Members receipt={receipt} chain={chain} />;
}

function Members({ receipt, chain }: { readonly receipt: Receipt; readonly chain: ChainPlace }): ReactNode {
  const { account, key } = receipt;
  const input = { account, chain: chain.id, limit: MEMBERS_MAX, ...(key === null ? {} : { key }) };
  const found = useApi('GET /receipts', input, { staleMs: 0 });
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-muted">
        Chain{' '}
        <PageLink to="/requests" search={{ account, chain: chain.id }} className="font-mono text-small hover:underline">
          {chain.id}
        </PageLink>
      </h3>
      {found.error === null ? null : <ErrorPanel error={found.error} again={() => void found.refetch()} />}
      {found.data === undefined ? (
        <Skeleton className="h-24 w-full" />
      ) : (
        <MemberTable open={receipt.id} receipts={inOrderOfChain(found.data.data)} hasMore={found.data.next !== null} />
      )}
    </section>
  );
}

interface MemberTableProps {
  /** The id of the receipt that is open. */
  readonly open: string;
  readonly receipts: readonly Receipt[];
  readonly hasMore: boolean;
}

function MemberTable({ open, receipts, hasMore }: MemberTableProps): ReactNode {
  const { costNanousd, refundedNanousd, running } = sumOfChain(receipts);
  return (
    <table
      aria-label="Calls of the chain"
      className="w-full border-separate border-spacing-0 rounded-panel border border-line"
    >
      <tbody>
        {receipts.map((member) => (
          <tr key={member.id} aria-current={member.id === open ? true : undefined}>
            <td className="w-8 border-b border-line py-1.5 pl-3 text-muted">{chainPlaceOf(member)?.place}</td>
            <td className="border-b border-line px-2 py-1.5">
              {member.id === open ? (
                <span className="font-semibold">{member.effective_model}</span>
              ) : (
                <PageLink
                  to="/requests"
                  search={{ account: member.account, open: member.id }}
                  className="hover:underline"
                >
                  {member.effective_model}
                </PageLink>
              )}
            </td>
            <td className="border-b border-line px-2 py-1.5">
              <ReceiptOutcome receipt={member} />
            </td>
            <td className="border-b border-line py-1.5 pr-3 text-right">
              {member.cost_nanousd === null ? '–' : formatExact(member.cost_nanousd)}
            </td>
          </tr>
        ))}
        <tr className="bg-raised font-semibold">
          <th scope="row" colSpan={3} className="rounded-bl-panel py-2 pl-3 text-left">
            {sumLabel(receipts.length, running, hasMore)}
          </th>
          <td className="rounded-br-panel py-2 pr-3 text-right">{formatExact(costNanousd)}</td>
        </tr>
        {refundedNanousd === 0n ? null : (
          <tr>
            <th scope="row" colSpan={3} className="py-2 pl-3 text-left font-normal">
              Refunded
            </th>
            <td className="py-2 pr-3 text-right">−{formatExact(refundedNanousd)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** What the listed calls of a chain cost together. */
export function ChainSummary({ requests }: { readonly requests: Pick<Requests, 'rows' | 'hasMore'> }): ReactNode {
  const receipts = requests.rows.flatMap((row) => (row.kind === 'receipt' ? [row.receipt] : []));
  const { costNanousd, refundedNanousd, running } = sumOfChain(receipts);
  return (
    <p className="spacing-page py-2">
      <span className="text-muted">{sumLabel(receipts.length, running, requests.hasMore)}: </span>
      <span className="font-semibold">{formatExact(costNanousd)}</span>
      {refundedNanousd === 0n ? null : <span className="text-muted"> · {formatExact(refundedNanousd)} refunded</span>}
    </p>
  );
}

function sumLabel(calls: number, running: number, hasMore: boolean): string {
  const counted = `${hasMore ? 'The newest ' : ''}${calls} ${calls === 1 ? 'call' : 'calls'}`;
  return running === 0 ? counted : `${counted}, ${running} still running`;
}
