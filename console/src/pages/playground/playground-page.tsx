import { type ReactNode, useState } from 'react';
import type { Model, ShownKey } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Filter } from '../../parts/filter.tsx';
import { formatPrice } from '../../parts/money-format.ts';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { keyChoices } from '../../shell/key-choices.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { usePayingKeys } from '../../shell/paying-keys.ts';
import { useFilters } from '../../shell/search.ts';
import { useTrialModel } from '../../snippets/gateway.ts';
import { CallSettingsFields, EMPTY_SETTINGS, type SettingsDraft, settingsFaults } from './call-settings.tsx';
import { Composer } from './composer.tsx';
import { type CallSettings, type Conversation, entriesOf, type Turn, useConversation } from './conversation.ts';
import { RequestCodeDialog } from './request-code-dialog.tsx';
import { RunningCost } from './running-cost.tsx';
import { TurnView } from './turn-view.tsx';
import { parseTools, WIRE_CHOICES, wireFor } from './wires.ts';

/** A conversation with one model, or the same one with two, and what each turn costs. */
export default function PlaygroundPage(): ReactNode {
  const models = useApi('GET /models', {}, { staleMs: 60_000 });
  const payers = usePayingKeys();
  const talking = (models.data?.data ?? []).filter(({ caps }) => caps.includes('chat'));
  const error = models.error ?? (payers.isRequired ? payers.error : null);
  const again = models.error === null ? payers.again : () => void models.refetch();
  if (error !== null)
    return (
      <Page title="Playground">
        <ErrorPanel error={error} again={again} />
      </Page>
    );
  if (models.isPending || payers.isPending)
    return (
      <Page title="Playground">
        <Skeleton className="h-96 w-full" />
      </Page>
    );
  if (talking.length === 0)
    return (
      <Page title="Playground">
        <EmptyState title="No chat model is served yet">
          Set the key of a provider, or add a host to the config file, and start the gateway again.
        </EmptyState>
      </Page>
    );
  if (payers.isRequired && payers.keys.length === 0)
    return (
      <Page title="Playground">
        <EmptyState
          title="A call needs a key to pay for it"
          action={
            <PageLink
              to="/keys"
              search={{ dialog: 'mint' }}
              className="inline-flex h-7 items-center rounded-control bg-accent px-2.5 font-semibold text-on-accent"
            >
              Mint a key
            </PageLink>
          }
        >
          The playground makes real calls. Their cost goes to the key that you choose.
        </EmptyState>
      </Page>
    );
  return <Playground models={talking} keys={payers.keys} needsKey={payers.isRequired} />;
}

interface PlaygroundProps {
  readonly models: readonly Model[];
  readonly keys: readonly ShownKey[];
  readonly needsKey: boolean;
}

function Playground({ models, keys, needsKey }: PlaygroundProps): ReactNode {
  const { search, change } = useFilters();
  const trial = useTrialModel();
  const [draft, setDraft] = useState<SettingsDraft>(EMPTY_SETTINGS);
  const [showsCode, setShowsCode] = useState(false);
  const first = models.find(({ id }) => id === search.model) ?? trial ?? models[0]!;
  const second = models.find(({ id }) => id === search.second) ?? null;
  const [one, other] = [useConversation(), useConversation()];
  const sides: readonly SideOfTalk[] = [
    { model: first, conversation: one },
    ...(second === null ? [] : [{ model: second, conversation: other }]),
  ];
  const isFaulty = Object.keys(settingsFaults(draft)).length > 0;
  const keyId = keys.find(({ id }) => id === search.key)?.id ?? (needsKey ? keys[0]!.id : null);
  const settingsFor = (model: Model): CallSettings => ({
    wire: wireFor(search.wire, model),
    terms: termsOf(draft, model),
    keyId,
  });
  const clear = (): void => {
    one.clear();
    other.clear();
  };
  return (
    <Page
      title="Playground"
      actions={
        <>
          <span className="text-muted">
            Spent here <RunningCost turns={[...one.turns, ...other.turns]} />
          </span>
          <Button onClick={() => setShowsCode(true)} disabled={isFaulty}>
            Code
          </Button>
          <Button disabled={one.turns.length === 0} onClick={clear}>
            Clear
          </Button>
        </>
      }
      filters={<CallFilters {...{ models, keys, needsKey, first, second, keyId, search, change }} />}
    >
      <div className="grid min-h-0 flex-1 gap-5 wide:grid-cols-[minmax(0,1fr)_300px]">
        <Talk sides={sides} settingsFor={settingsFor} isFaulty={isFaulty} />
        <aside aria-label="Settings" className="min-w-0 self-start rounded-panel border border-line bg-panel p-4">
          <CallSettingsFields
            draft={draft}
            faults={settingsFaults(draft)}
            hasTools={sides.every(({ model }) => model.caps.includes('tools'))}
            onChange={setDraft}
          />
        </aside>
      </div>
      {showsCode ? (
        <RequestCodeDialog {...nextRequest(settingsFor(first), one)} onClose={() => setShowsCode(false)} />
      ) : null}
    </Page>
  );
}

interface SideOfTalk {
  readonly model: Model;
  readonly conversation: Conversation;
}

interface TalkProps {
  readonly sides: readonly SideOfTalk[];
  readonly isFaulty: boolean;
  settingsFor(model: Model): CallSettings;
}

/** One or two conversations, and one place to write. */
function Talk({ sides, isFaulty, settingsFor }: TalkProps): ReactNode {
  const send = (text: string, images: readonly string[]): void => {
    for (const { model, conversation } of sides)
      conversation.send(askedIn(conversation, text, images), settingsFor(model));
  };
  const stop = (): void => {
    for (const { conversation } of sides) conversation.stop();
  };
  return (
    <div className="flex min-h-[50vh] min-w-0 wide:min-h-[calc(100dvh-172px)] flex-col gap-4">
      <div className={`grid flex-1 content-start gap-5 ${sides.length === 1 ? '' : 'wide:grid-cols-2'}`}>
        {sides.map(({ model, conversation }, at) => (
          <Side
            key={at === 0 ? 'first' : 'second'}
            model={model}
            conversation={conversation}
            isAlone={sides.length === 1}
          />
        ))}
      </div>
      <div className="sticky bottom-0 bg-bg pb-4">
        <Composer
          isRunning={sides.some(({ conversation }) => conversation.isRunning)}
          awaited={sides.flatMap(({ conversation }) => awaitedIn(conversation))}
          canAttach={sides.every(({ model }) => model.caps.includes('images'))}
          obstacle={isFaulty ? 'Fix the settings first.' : null}
          onSend={send}
          onStop={stop}
        />
      </div>
    </div>
  );
}

function termsOf({ system, maxTokens, temperature, tools }: SettingsDraft, model: Model): CallSettings['terms'] {
  const parsed = parseTools(tools);
  return {
    model: model.id,
    system: system.trim(),
    maxTokens: maxTokens.trim() === '' ? null : Number(maxTokens),
    temperature: temperature.trim() === '' ? null : Number(temperature),
    tools: typeof parsed === 'string' || !model.caps.includes('tools') ? [] : parsed,
  };
}

/** Tool calls of the last turn, which the model waits for. */
function awaitedIn({ turns }: Pick<Conversation, 'turns'>): Turn['toolCalls'] {
  const last = turns.at(-1);
  return last?.state === 'done' ? last.toolCalls : [];
}

function askedIn({ turns }: Conversation, text: string, images: readonly string[]): Turn['asked'] {
  const calls = awaitedIn({ turns });
  return calls.length > 0 ? { role: 'tool', callIds: calls.map(({ id }) => id), text } : { role: 'user', text, images };
}

/** What would be sent next; with an example of a message if nothing was said yet. */
function nextRequest({ wire, terms }: CallSettings, { turns }: Conversation) {
  const said = turns.flatMap(entriesOf);
  const last = said.at(-1);
  const entries = last === undefined ? [{ role: 'user' as const, text: 'Hello', images: [] }] : said.slice(0, -1);
  return { wire, body: wire.body(terms, entries) };
}

function Side(props: {
  readonly model: Model;
  readonly conversation: Conversation;
  readonly isAlone: boolean;
}): ReactNode {
  const { model, conversation, isAlone } = props;
  return (
    <section aria-label={model.id} className="flex min-w-0 flex-col gap-5">
      {isAlone ? null : (
        <h2 className="flex flex-wrap items-baseline justify-between gap-x-3 border-b border-line pb-2 font-semibold">
          {model.name}
          <span className="text-small font-normal text-muted">
            <RunningCost turns={conversation.turns} />
          </span>
        </h2>
      )}
      {conversation.turns.length === 0 ? <Welcome model={model} /> : null}
      {conversation.turns.map((turn) => (
        <TurnView key={turn.id} turn={turn} />
      ))}
    </section>
  );
}

function Welcome({ model }: { readonly model: Model }): ReactNode {
  return (
    <div className="flex flex-col gap-1 py-6 text-muted">
      <p>
        <b className="text-text">{model.name}</b> costs {formatPrice(model.pricing.input)} per million tokens of input
        and {formatPrice(model.pricing.output)} of output.
      </p>
      <p>These are real calls: each turn has a receipt. The conversation is kept on this page only.</p>
    </div>
  );
}

interface CallFiltersProps extends PlaygroundProps {
  readonly first: Model;
  readonly second: Model | null;
  readonly keyId: string | null;
  readonly search: ReturnType<typeof useFilters>['search'];
  readonly change: ReturnType<typeof useFilters>['change'];
}

function CallFilters(props: CallFiltersProps): ReactNode {
  const { models, keys, needsKey, first, second, keyId, search, change } = props;
  const choices = models.map(({ id }) => ({ value: id, label: id }));
  return (
    <>
      <Filter label="Model" value={first.id} choices={choices} onChange={(model) => change({ model })} />
      <Filter
        label="Compare with"
        value={second?.id ?? 'none'}
        choices={[{ value: 'none', label: 'no other' }, ...choices]}
        onChange={(id) => change({ second: id === 'none' ? undefined : id })}
      />
      <Filter
        label="Route"
        value={search.wire ?? 'auto'}
        choices={WIRE_CHOICES}
        onChange={(wire) => change({ wire: wire === 'auto' ? undefined : wire })}
      />
      <Filter
        label="Paid by"
        value={keyId ?? 'none'}
        choices={[...(needsKey ? [] : [{ value: 'none', label: 'this machine' }]), ...keyChoices(keys)]}
        onChange={(key) => change({ key: key === 'none' ? undefined : key })}
      />
    </>
  );
}
