import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type CallResult, callModel } from '../../api/gateway-call.ts';
import type { Model } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel, FormError } from '../../parts/error-panel.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { usePayingKeys } from '../../shell/paying-keys.ts';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { isLocalMode, isSimulated, useGatewayUrl, useTrialModel } from '../../snippets/gateway.ts';
import { curlSnippet, ownCodeSnippet } from '../../snippets/snippets.ts';
import { InvoiceLines } from '../requests/invoice.tsx';

/** What an empty gateway shows: a call that works right now, its receipt, and the lines for the reader's own code. */
export function FirstCall(): ReactNode {
  const payer = usePayingKey();
  const [ofKey, ofAll] = [useTrialModel(payer.models), useTrialModel()];
  const model = ofKey ?? ofAll;
  const url = useGatewayUrl();
  const { change } = useFilters();
  const { accounts, canHaveKeys } = useViewer();
  if (model === undefined) return <ModelsPending />;
  if (model === null)
    return (
      <EmptyState title="No model is served yet">
        Set the key of a provider, or add a host to the config file, and start the gateway again.
      </EmptyState>
    );
  const secret = isLocalMode() ? null : '$TOLLGATE_API_KEY';
  return (
    <div className="mx-auto flex w-full max-w-[760px] flex-col gap-5 py-4">
      <div>
        <h2 className="text-figure font-semibold">Make the first call</h2>
        <p className="mt-1 text-muted">
          {isSimulated(model)
            ? `${model.id} is simulated: it answers without a provider and costs no real money, but has a price and a receipt like every other model.`
            : `${model.id} is the cheapest model that is served here.`}
        </p>
      </div>
      <Step number={1} title="From this page, or from a terminal">
        <CodeBlock text={curlSnippet({ url, model: model.id, secret })} label="Copy the command" />
        <WhyRefused />
        <TryCall model={model} payer={payer} />
      </Step>
      <Step number={2} title="From your own code: change the base URL and the key, nothing else">
        <CodeBlock
          text={ownCodeSnippet({ url, model: model.id, secret: isLocalMode() ? null : 'tg_live_…' })}
          label="Copy the lines"
        />
      </Step>
      <Step number={3} title="One key for each program, with a cap of its own">
        <p className="text-muted">
          {isLocalMode()
            ? 'On this machine calls work without a key. With one, you see who spent what, and each stops at its cap.'
            : 'Every call needs a key. Its secret is shown once.'}
        </p>
        {canHaveKeys && (isLocalMode() || accounts.length > 0) ? (
          <Button className="self-start" onClick={() => change({ dialog: 'mint' })}>
            Mint a key
          </Button>
        ) : null}
      </Step>
    </div>
  );
}

/** Whether a model is served is not known yet, or cannot be read. */
function ModelsPending(): ReactNode {
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  if (models.error !== null) return <ErrorPanel error={models.error} again={() => void models.refetch()} />;
  return <Skeleton className="mx-auto h-80 w-full max-w-[760px]" />;
}

function Step({
  number,
  title,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Panel>
      <div className="flex flex-col gap-3 p-4">
        <h3 className="flex items-center gap-2.5 font-semibold">
          <span
            aria-hidden
            className="inline-flex size-5 shrink-0 items-center justify-center rounded-full bg-accent-soft text-small text-accent"
          >
            {number}
          </span>
          {title}
        </h3>
        {children}
      </div>
    </Panel>
  );
}

const WARNING = 'rounded-control bg-warning-soft px-3 py-2 text-warning';

/** Simulated models have a price, too. In local mode calls without a key are not charged to the chosen account. */
function WhyRefused(): ReactNode {
  const { account, isOperator, me } = useViewer();
  if (isLocalMode() || account === null) return null;
  const { status } = account;
  if (status !== 'active')
    return (
      <p className={WARNING}>
        {status === 'closed'
          ? 'This account is closed for good, so calls are refused.'
          : 'This account is suspended, so calls are refused until an operator of this gateway resumes it.'}
      </p>
    );
  if (account.kind === 'unlimited' || account.available_nanousd > 0n) return null;
  const canCredit = isOperator && !me.read_only;
  return (
    <p className={WARNING}>
      This account has no money, so calls are refused.{' '}
      {canCredit ? (
        <>
          Add credit on the page{' '}
          <PageLink to="/balance" className="font-medium underline">
            Balance
          </PageLink>
          .
        </>
      ) : (
        'Ask an operator of this gateway to add credit.'
      )}
    </p>
  );
}

function TryCall({ model, payer }: { readonly model: Model; readonly payer: Payer }): ReactNode {
  const client = useQueryClient();
  const { change } = useFilters();
  const { accounts, canHaveKeys } = useViewer();
  const attempt = useMutation<CallResult, Error>({
    mutationFn: () => callModel({ model: model.id, text: 'Say hello in one sentence.', keyId: payer.keyId }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['GET /receipts'] }),
  });
  if (payer.isMissing && !canHaveKeys)
    return (
      <p className="text-muted">
        A call needs a key, and viewers have none. To make calls, ask an owner for another role.
      </p>
    );
  if (payer.isMissing && accounts.length === 0) return <AccountFirst />;
  if (payer.isMissing)
    return (
      <div className="flex flex-wrap items-center gap-3">
        <Button tone="primary" onClick={() => change({ dialog: 'mint' })}>
          Mint a key first
        </Button>
        <span className="text-muted">A call needs a key to pay for it.</span>
      </div>
    );
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center gap-3">
        <Button tone="primary" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {attempt.isPending ? 'Calling' : attempt.data === undefined ? 'Make the call' : 'Call again'}
        </Button>
        {attempt.data === undefined ? null : <span className="min-w-0 text-muted">“{attempt.data.text}”</span>}
      </div>
      <FormError error={attempt.error} />
      {attempt.data === undefined ? null : <FirstReceipt requestId={attempt.data.requestId} />}
    </div>
  );
}

/** For the operator of a new gateway: a key cannot be minted before there is an account that it belongs to. */
function AccountFirst(): ReactNode {
  return (
    <p className="text-muted">
      A call needs a key, and a key belongs to an account, which pays for it.{' '}
      <PageLink to="/accounts" search={{ dialog: 'account' }} className="font-medium text-accent underline">
        Create an account
      </PageLink>{' '}
      first.
    </p>
  );
}

function FirstReceipt({ requestId }: { readonly requestId: string }): ReactNode {
  const receipt = useApi('GET /receipts/{receipt}', { receipt: requestId });
  if (receipt.data === undefined) return null;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">This is its receipt, to the nanodollar:</p>
      <InvoiceLines receipt={receipt.data} />
      <p>
        <PageLink to="/requests" search={{ open: requestId }} className="font-medium text-accent hover:underline">
          Open it in the list of requests
        </PageLink>
      </p>
    </div>
  );
}

interface Payer {
  readonly keyId: string | null;
  /** Those that the key may use; null: all. */
  readonly models: readonly string[] | null;
  /** A call needs a key, and there is none that this person may use. */
  readonly isMissing: boolean;
}

/** In local mode nobody needs a key. Otherwise it is the first one that works. */
function usePayingKey(): Payer {
  const { keys, isRequired, isPending, error } = usePayingKeys();
  if (!isRequired) return { keyId: null, models: null, isMissing: false };
  const [usable] = keys;
  const isMissing = usable === undefined && !isPending && error === null;
  return { keyId: usable?.id ?? null, models: usable?.models ?? null, isMissing };
}
