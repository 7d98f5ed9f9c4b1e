import type { ReactNode } from 'react';
import type { Model } from '../../api/generated/routes.ts';
import { Chip } from '../../parts/chip.tsx';
import { CopyIcon } from '../../parts/copy.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { formatCount, formatPrice } from '../../parts/money-format.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { isLocalMode, useGatewayUrl } from '../../snippets/gateway.ts';
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx';
import { HostStateChip } from '../hosts/host-state.tsx';
import { CostCalculator } from './cost-calculator.tsx';
import { capLabel } from './model-caps.ts';
import { PromptQuote } from './prompt-quote.tsx';
import type { HostStates } from './use-host-states.ts';

interface ModelDrawerProps {
  readonly model: Model;
  readonly hostStates: HostStates;
  onClose(): void;
}

/** One model: what it can do, what it costs, who serves it, and how to call it. */
export function ModelDrawer({ model, hostStates, onClose }: ModelDrawerProps): ReactNode {
  const url = useGatewayUrl();
  const canChat = model.caps.includes('chat');
  const { canHaveKeys } = useViewer();
  // A viewer has no key that could pay.
  const canCall = canChat && canHaveKeys;
  return (
    <Drawer
      title={model.name}
      onClose={onClose}
      {...(canCall
        ? {
            footer: (
              <PageLink
                to="/playground"
                search={{ model: model.id }}
                className="inline-flex h-7 items-center rounded-control border border-line-strong px-2.5 font-medium hover:bg-raised"
              >
                Open in the playground
              </PageLink>
            ),
          }
        : {})}
    >
      <div className="flex flex-col gap-6">
        <ModelFacts model={model} />
        <Section title="Prices, dollars per million tokens">
          <PriceTable model={model} />
        </Section>
        <Section title="What a call costs">
          <CostCalculator model={model} />
        </Section>
        {canCall ? (
          <Section title="What a prompt would hold">
            <PromptQuote model={model} />
          </Section>
        ) : null}
        {model.hosts === undefined ? null : (
          <Section title="Hosts, in the order of their price">
            <HostList hosts={model.hosts} states={hostStates} />
          </Section>
        )}
        {canChat ? (
          <Section title="Call it">
            <SnippetTabs
              url={url}
              model={model.id}
              messagesModel={model.caps.includes('messages') ? model.id : null}
              secret={isLocalMode() ? null : 'tg_live_…'}
            />
          </Section>
        ) : null}
      </div>
    </Drawer>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function ModelFacts({ model }: { readonly model: Model }): ReactNode {
  const { embedding } = model;
  const facts: readonly (Fact | null)[] = [
    [
      'Id',
      <span key="id" className="flex items-center gap-1 font-mono text-small">
        {model.id}
        <CopyIcon text={model.id} label="Copy the id" />
      </span>,
    ],
    model.aliases.length === 0 ? null : ['Also called', model.aliases.join(', ')],
    ['From', model.owned_by],
    ['Context window', `${formatCount(model.context_window)} tokens`],
    model.max_output_tokens === 0 ? null : ['Longest output', `${formatCount(model.max_output_tokens)} tokens`],
    embedding === undefined ? null : ['Dimensions', formatCount(embedding.dimensions)],
    [
      'Can do',
      <span key="caps" className="flex flex-wrap gap-1">
        {model.caps.map((cap) => (
          <Chip key={cap}>{capLabel(cap)}</Chip>
        ))}
      </span>,
    ],
    model.reasoning_efforts === undefined ? null : ['Reasoning efforts', model.reasoning_efforts.join(', ')],
  ];
  return <Facts facts={facts} />;
}

const RATES = [
  { name: 'Input', rate: 'input' },
  { name: 'Cache read', rate: 'cache_read' },
  { name: 'Cache write', rate: 'cache_write' },
  { name: 'Cache write, 1 h', rate: 'cache_write_1h' },
  { name: 'Output', rate: 'output' },
] as const;

function PriceTable({ model }: { readonly model: Model }): ReactNode {
  const { pricing } = model;
  const tiers = [
    { above: null, ...pricing },
    ...(pricing.tiers ?? []).map((tier) => ({ above: tier.above_input_tokens, ...tier })),
  ];
  const rows = RATES.filter(({ rate }) => tiers.some((tier) => tier[rate] !== null));
  const lineAbove = (at: number): string => (at === 0 && tiers.length === 1 ? '' : 'border-t border-line');
  return (
    <table aria-label="Prices" className="w-full border-separate border-spacing-0 rounded-panel border border-line">
      {tiers.length === 1 ? null : (
        <thead>
          <tr className="text-head text-muted">
            <th scope="col" className="py-1.5 pl-3 text-left font-medium">
              Tokens of input
            </th>
            {tiers.map(({ above }) => (
              <th key={above ?? 0} scope="col" className="py-1.5 pr-3 text-right font-medium">
                {above === null ? 'up to that' : `above ${formatCount(above)}`}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map(({ name, rate }, at) => (
          <tr key={name}>
            <th scope="row" className={`py-1.5 pl-3 text-left font-normal ${lineAbove(at)}`}>
              {name}
            </th>
            {tiers.map((tier) => (
              <td key={tier.above ?? 0} className={`py-1.5 pr-3 text-right ${lineAbove(at)}`}>
                <Rate price={tier[rate]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rate({ price }: { readonly price: number | null }): ReactNode {
  return price === null ? <span className="text-muted">as input</span> : formatPrice(price);
}

function HostList({ hosts, states }: { readonly hosts: readonly string[]; readonly states: HostStates }): ReactNode {
  return (
    <ul className="flex flex-col gap-1.5">
      {hosts.map((host) => (
        <li key={host} className="flex items-center justify-between gap-3">
          <PageLink to="/hosts" search={{ open: host }} className="hover:underline">
            {host}
          </PageLink>
          <HostStateChip state={states.get(host) ?? null} />
        </li>
      ))}
    </ul>
  );
}
