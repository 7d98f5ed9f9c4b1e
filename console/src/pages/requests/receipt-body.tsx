import type { ReactNode } from 'react';
import type { Receipt } from '../../api/generated/routes.ts';
import { printApiJson } from '../../api/json.ts';
import { Chip } from '../../parts/chip.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { formatDuration, formatFull } from '../../parts/time-format.ts';
import { useKeyNames } from '../../shell/key-names.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { keyFact, monoFact, requestFact } from './call-facts.tsx';
import { ChainSection } from './chain-section.tsx';
import { endingText } from './ending-text.ts';
import { InvoiceLines } from './invoice.tsx';
import { SignedReceiptButton } from './signed-receipt-button.tsx';

/** A receipt as an invoice, with everything that explains it. */
export function ReceiptBody({ receipt }: { readonly receipt: Receipt }): ReactNode {
  return (
    <div className="flex flex-col gap-5">
      <Chips receipt={receipt} />
      <Facts facts={useCallFacts(receipt)} />
      <InvoiceLines receipt={receipt} />
      <p className="text-muted">{endingText(receipt)}</p>
      <Facts facts={moneyFacts(receipt)} />
      <ChainSection receipt={receipt} />
      <Attempts receipt={receipt} />
    </div>
  );
}

export function ReceiptActions({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const link = `${location.origin}/console/requests?account=${receipt.account}&open=${receipt.id}`;
  return (
    <>
      <CopyButton text={printApiJson(receipt)} label="Copy JSON" />
      <CopyButton text={link} label="Copy link" />
      <SignedReceiptButton receipt={receipt} />
    </>
  );
}

function Chips({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const { http_status: status, ended, first_byte_ms, usage_source } = receipt;
  const tone = ended === 'complete' ? 'good' : ended === null ? 'neutral' : 'warning';
  return (
    <p className="flex flex-wrap gap-1.5">
      <Chip tone={tone}>
        {[status, ended === null ? 'running' : ended.replaceAll('_', ' ')].filter((part) => part !== null).join(' ')}
      </Chip>
      {first_byte_ms === null ? null : <Chip>stream</Chip>}
      {usage_source === 'none' ? null : <Chip>usage {usage_source}</Chip>}
      {receipt.adjusted === null ? null : <Chip>adjusted</Chip>}
    </p>
  );
}

function useCallFacts(receipt: Receipt): readonly (Fact | null)[] {
  const nameOf = useKeyNames();
  const { accounts } = useViewer();
  const isRenamed = receipt.requested_model !== receipt.effective_model;
  const account = accounts.length > 1 ? accounts.find(({ id }) => id === receipt.account)?.name : undefined;
  return [
    requestFact(receipt.id),
    isRenamed ? ['Requested', receipt.requested_model] : null,
    ['Model', receipt.effective_model],
    account === undefined ? null : ['Account', account],
    keyFact(receipt.key, nameOf),
    monoFact('Route', receipt.route),
    ['Started', <time key="started">{formatFull(receipt.created)}</time>],
    ...timeFacts(receipt),
  ];
}

function timeFacts({ first_byte_ms, duration_ms }: Receipt): readonly (Fact | null)[] {
  return [
    first_byte_ms === null ? null : ['First byte', formatDuration(first_byte_ms)],
    ['Duration', formatDuration(duration_ms)],
  ];
}

function moneyFacts(receipt: Receipt): readonly (Fact | null)[] {
  const labels = Object.entries(receipt.labels);
  const { held_nanousd: held, cost_nanousd: cost } = receipt;
  const ratio = cost === null || cost === 0n ? '' : ` (${(Number(held) / Number(cost)).toFixed(1)} × the charge)`;
  return [
    [
      'Held before',
      <span key="held">
        <Money nanousd={held} as="cost" />
        <span className="text-muted">{ratio}</span>
      </span>,
    ],
    monoFact('Price list', receipt.price_version),
    receipt.idempotency_key === null ? null : ['Idempotency key', receipt.idempotency_key],
    receipt.adjusted === null ? null : ['Adjusted', receipt.adjusted],
    labels.length === 0 ? null : monoFact('Labels', labels.map(([name, value]) => `${name}=${value}`).join(' ')),
  ];
}

interface Attempt {
  readonly host?: string;
  readonly outcome: string;
  readonly ms: number | null;
}

/** Only operators get these members at all. */
function Attempts({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const { tries, host, loss } = receipt;
  if (tries === undefined && host === undefined) return null;
  const attempts: readonly Attempt[] = tries ?? [
    { host: host ?? 'none', outcome: receipt.ended ?? 'running', ms: null },
  ];
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-muted">
        Attempts <span className="text-small">(operator)</span>
      </h3>
      <table
        aria-label="Attempts"
        className="w-full border-separate border-spacing-0 rounded-control border border-line"
      >
        <tbody>
          {numbered(attempts).map((attempt) => (
            <tr key={attempt.number}>
              <td className="w-8 py-1.5 pl-3 text-muted">{attempt.number}</td>
              <td className="px-2 py-1.5">{attempt.host ?? '–'}</td>
              <td className="px-2 py-1.5">
                <Chip tone={/^2|^ok$|complete/.test(attempt.outcome) ? 'good' : 'warning'}>
                  {attempt.outcome.replaceAll('_', ' ')}
                </Chip>
              </td>
              <td className="py-1.5 pr-3 text-right text-muted">{formatDuration(attempt.ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {loss === null || loss === undefined ? null : (
        <p className="text-muted">
          Up to <Money nanousd={loss.amount_nanousd} as="cost" /> beyond the charge may be billed by hosts:{' '}
          {loss.reason.replaceAll('_', ' ')}.
        </p>
      )}
    </section>
  );
}

/** Attempts have no id, only a position. */
function numbered<Each extends object>(attempts: readonly Each[]): readonly (Each & { readonly number: number })[] {
  return attempts.map((attempt, at) => ({ ...attempt, number: at + 1 }));
}
