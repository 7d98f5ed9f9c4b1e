import type { ReactNode } from 'react';
import type { Model } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Filter } from '../../parts/filter.tsx';
import { MissingDrawer } from '../../parts/missing-drawer.tsx';
import { formatCount, formatCounted, formatPrice } from '../../parts/money-format.ts';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ToggleChips } from '../../parts/toggle-chips.tsx';
import { FilterInput } from '../../shell/filter-input.tsx';
import { useFilters } from '../../shell/search.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { HostDots } from '../hosts/host-state.tsx';
import { capLabel } from './model-caps.ts';
import { ModelDrawer } from './model-drawer.tsx';
import { type HostStates, useHostStates } from './use-host-states.ts';

const ORDERS = [
  { value: 'name', label: 'name' },
  { value: 'price', label: 'price, cheapest first' },
  { value: 'window', label: 'context window, largest first' },
  { value: 'new', label: 'newest first' },
];

/** Every model that is served, with its prices. */
export default function ModelsPage(): ReactNode {
  const { search, change } = useFilters();
  const models = useApi('GET /models', {}, { staleMs: 60_000 });
  const hostStates = useHostStates();
  const all = models.data?.data ?? [];
  const chosenCaps = (search.caps ?? '').split(',').filter((cap) => cap !== '');
  const shown = all
    .filter((model) => isShown(model, search.q ?? '', chosenCaps))
    .toSorted(orderBy(search.order ?? 'name'));
  const open = all.find(({ id }) => id === search.open);
  const columns = useColumns(hostStates);
  return (
    <Page
      title="Models"
      bleed
      actions={
        models.data === undefined ? null : (
          <span className="text-small text-muted">
            {formatCounted(all.length, 'model')} · dollars per million tokens
            <span className="hidden wide:inline"> · price list {models.data.price_version}</span>
          </span>
        )
      }
      filters={<ModelFilters models={all} chosenCaps={chosenCaps} />}
    >
      {models.error === null ? (
        <Table
          label="Models"
          bleed
          columns={columns}
          rows={shown}
          idOf={({ id }) => id}
          isPending={models.isPending}
          skeletonRows={12}
          onOpen={({ id }) => change({ open: id })}
          openId={search.open ?? null}
          empty={<NoModels hasAny={all.length > 0} onClear={() => change({ q: undefined, caps: undefined })} />}
        />
      ) : (
        <ErrorPanel error={models.error} again={() => void models.refetch()} />
      )}
      {models.data !== undefined && search.open !== undefined && open === undefined ? (
        <MissingDrawer
          title="Model"
          missing={`There is no model “${search.open}”`}
          list="models"
          onClose={() => change({ open: undefined })}
        >
          The link may be mistyped, or no host here serves the model any more.
        </MissingDrawer>
      ) : null}
      {open === undefined ? null : (
        <ModelDrawer
          key={open.id}
          model={open}
          hostStates={hostStates}
          onClose={() =>
            change({ open: undefined, in: undefined, cached: undefined, out: undefined }, { replace: true })
          }
        />
      )}
    </Page>
  );
}

function ModelFilters({
  models,
  chosenCaps,
}: {
  readonly models: readonly Model[];
  readonly chosenCaps: readonly string[];
}): ReactNode {
  const { search, change } = useFilters();
  return (
    <>
      <FilterInput name="q" label="Search models" placeholder="Search by name or vendor" width="wide:!w-64" />
      <Filter label="Order" value={search.order ?? 'name'} choices={ORDERS} onChange={(order) => change({ order })} />
      <ToggleChips
        label="Can do"
        choices={capsOf(models).map((cap) => ({ value: cap, label: capLabel(cap) }))}
        chosen={chosenCaps}
        onChange={(caps) => change({ caps: caps.join(',') })}
      />
    </>
  );
}

function NoModels({ hasAny, onClear }: { readonly hasAny: boolean; onClear(): void }): ReactNode {
  if (hasAny)
    return (
      <EmptyState title="No model matches the filters" action={<Button onClick={onClear}>Clear the filters</Button>} />
    );
  return (
    <EmptyState title="No model is served yet">
      Set the key of a provider, or add a host to the config file, and start the gateway again.
    </EmptyState>
  );
}

function isShown({ id, name, owned_by, aliases, caps }: Model, text: string, wanted: readonly string[]): boolean {
  const words = text.trim().toLowerCase().split(/\s+/);
  const hay = `${id} ${name} ${owned_by} ${aliases.join(' ')}`.toLowerCase();
  return wanted.every((cap) => caps.includes(cap)) && words.every((word) => hay.includes(word));
}

/** The most common first, so that the chips stay in one place. */
function capsOf(models: readonly Model[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const cap of models.flatMap(({ caps }) => caps)) counts.set(cap, (counts.get(cap) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([cap]) => cap);
}

function orderBy(order: string): (a: Model, b: Model) => number {
  const byName = (a: Model, b: Model): number => a.id.localeCompare(b.id);
  if (order === 'price')
    return (a, b) => a.pricing.input + a.pricing.output - (b.pricing.input + b.pricing.output) || byName(a, b);
  if (order === 'window') return (a, b) => b.context_window - a.context_window || byName(a, b);
  if (order === 'new') return (a, b) => b.created - a.created || byName(a, b);
  return byName;
}

function useColumns(hostStates: HostStates): readonly Column<Model>[] {
  const { isOperator } = useViewer();
  const hosts: Column<Model> = {
    id: 'hosts',
    head: 'Hosts',
    align: 'right',
    wideOnly: true,
    cell: (model) => <HostDots hosts={model.hosts ?? []} states={hostStates} />,
  };
  return [
    {
      id: 'model',
      head: 'Model',
      fluid: true,
      cell: ({ id, name }) => (
        <span className="flex min-w-0 flex-col large:flex-row large:items-baseline large:gap-2">
          <span className="truncate font-medium">{name}</span>
          <span className="max-w-full truncate font-mono text-small text-muted large:shrink-0">{id}</span>
        </span>
      ),
    },
    price('input', 'Input', ({ pricing }) => pricing.input),
    price('cached', 'Cached', ({ pricing }) => pricing.cache_read, true),
    price('output', 'Output', ({ pricing, embedding }) => (embedding === undefined ? pricing.output : null)),
    {
      id: 'window',
      head: 'Context window',
      align: 'right',
      wideOnly: true,
      cell: ({ context_window }) => (
        <span title={`${formatCount(context_window)} tokens`}>{compact(context_window)}</span>
      ),
    },
    {
      id: 'tiers',
      head: 'Tiers',
      align: 'right',
      roomyOnly: true,
      className: 'whitespace-nowrap',
      cell: ({ pricing }) => (
        <Tiers above={(pricing.tiers ?? []).map(({ above_input_tokens }) => above_input_tokens)} />
      ),
    },
    { id: 'vendor', head: 'From', roomyOnly: true, className: 'text-muted', cell: ({ owned_by }) => owned_by },
    ...(isOperator ? [hosts] : []),
  ];
}

function price(id: string, head: string, of: (model: Model) => number | null, wideOnly = false): Column<Model> {
  return {
    id,
    head,
    align: 'right',
    wideOnly,
    cell: (model) => {
      const rate = of(model);
      return rate === null ? <span className="text-muted">–</span> : formatPrice(rate);
    },
  };
}

function Tiers({ above }: { readonly above: readonly number[] }): ReactNode {
  if (above.length === 0) return <span className="text-muted">–</span>;
  return <span title="Requests with a longer input cost more.">above {above.map(compact).join(', ')}</span>;
}

/** `200 K`, `1 M`. */
function compact(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(2))} M`;
  return tokens >= 1_000 ? `${Number((tokens / 1_000).toFixed(1))} K` : String(tokens);
}
