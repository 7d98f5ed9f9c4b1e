import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { Chip } from '../../parts/chip.tsx';
import { CopyIcon } from '../../parts/copy.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCounted } from '../../parts/money-format.ts';
import { formatDuration } from '../../parts/time-format.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { InvoiceLines } from '../requests/invoice.tsx';
import type { Turn } from './conversation.ts';

/** What was asked, what came back, and what it cost. */
export function TurnView({ turn }: { readonly turn: Turn }): ReactNode {
  return (
    <article aria-label={`Turn with ${turn.model}`} className="flex flex-col gap-2">
      <Asked turn={turn} />
      <div className="flex min-w-0 flex-col gap-2">
        {turn.reasoning === '' ? null : (
          <details className="text-muted">
            <summary className="cursor-pointer text-small">Reasoning</summary>
            <p className="mt-1 border-l-2 border-line pl-3 break-words whitespace-pre-wrap">{turn.reasoning}</p>
          </details>
        )}
        {turn.text === '' && turn.state === 'running' && turn.toolCalls.length === 0 ? (
          <p className="animate-[shimmer_1.4s_infinite] text-muted">Waiting for {turn.model}</p>
        ) : (
          <p className="max-w-[75ch] break-words whitespace-pre-wrap">{turn.text}</p>
        )}
        {turn.toolCalls.map(({ id, name, input }) => (
          <div key={id} className="rounded-control border border-line bg-bg px-3 py-2">
            <p className="text-small font-medium">Calls {name}</p>
            <pre className="overflow-x-auto font-mono text-small whitespace-pre-wrap">{pretty(input)}</pre>
          </div>
        ))}
        <FormError error={turn.error} />
        <TurnFoot turn={turn} />
      </div>
    </article>
  );
}

function Asked({ turn: { asked } }: { readonly turn: Turn }): ReactNode {
  return (
    <div className="max-w-[88%] self-end rounded-panel bg-raised px-3 py-2">
      {asked.role === 'tool' ? <p className="text-small text-muted">Result of the tool</p> : null}
      {asked.role === 'user' && asked.images.length > 0 ? (
        <div className="mb-2 flex flex-wrap gap-2">
          {asked.images.map((url) => (
            <img key={url} src={url} alt="Attached" className="max-h-40 rounded-chip" />
          ))}
        </div>
      ) : null}
      <p className="break-words whitespace-pre-wrap">{asked.text}</p>
    </div>
  );
}

function TurnFoot({ turn }: { readonly turn: Turn }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { requestId, hasReceipt, state, text } = turn;
  const isEnded = state !== 'running';
  const receipt = useApi(
    'GET /receipts/{receipt}',
    { receipt: requestId ?? '' },
    // A call that was stopped is settled a moment later.
    {
      enabled: isEnded && hasReceipt,
      staleMs: 60_000,
      refetchMs: 1_000,
      refetchWhile: ({ status }) => status === 'open',
    },
  );
  if (!isEnded) return null;
  const found = receipt.data;
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-small text-muted">
        {state === 'stopped' ? <Chip tone="warning">stopped</Chip> : null}
        {text === '' ? null : <CopyIcon text={text} label="Copy the answer" />}
        {found === undefined ? null : (
          <>
            <button
              type="button"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
              className="font-medium text-accent hover:underline"
            >
              <Money as="cost" nanousd={found.cost_nanousd} />
            </button>
            <span>{formatCounted(found.usage?.output_tokens, 'token')} out</span>
            <span>first byte {formatDuration(found.first_byte_ms)}</span>
          </>
        )}
        {requestId === null ? null : (
          <PageLink to="/requests" search={{ open: requestId }} className="font-mono hover:underline">
            {requestId}
          </PageLink>
        )}
      </p>
      {isOpen && found !== undefined ? <InvoiceLines receipt={found} /> : null}
    </div>
  );
}

function pretty(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}
