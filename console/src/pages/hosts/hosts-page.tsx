import type { ReactNode } from 'react';
import type { Host } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Filter } from '../../parts/filter.tsx';
import { MissingDrawer } from '../../parts/missing-drawer.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { Page } from '../../parts/page.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { formatDuration } from '../../parts/time-format.ts';
import { useFilters } from '../../shell/search.ts';
import { RANGES, type Range, rangeOf, sinceOf } from '../overview/range.ts';
import { ReplicaNote } from '../system/replica-note.tsx';
import { HostDrawer } from './host-drawer.tsx';
import { eventText } from './host-event.ts';
import { type HostFigures, lostBy, paidFor, requestsThrough } from './host-figures.ts';
import { HostStateChip } from './host-state.tsx';

const STATES = [
  { value: 'any', label: 'any' },
  { value: 'bad', label: 'not well' },
];

/** The hosts: how healthy they are, what went through them, what failed last. */
export default function HostsPage(): ReactNode {
  const { search, change } = useFilters();
  const range = rangeOf(search.range);
  const hosts = useApi('GET /hosts', {}, { refetchMs: 10_000 });
  const figures = useHostFigures(range);
  const all = hosts.data?.data ?? [];
  const shown = all.filter(({ state }) => search.state !== 'bad' || state !== 'well');
  const open = all.find(({ id }) => id === search.open);
  return (
    <Page
      title="Hosts"
      bleed
      actions={
        <Segmented label="Time" value={range.value} choices={RANGES} onChange={(value) => change({ range: value })} />
      }
      filters={
        <Filter
          label="State"
          value={search.state ?? 'any'}
          choices={STATES}
          onChange={(state) => change({ state: state === 'any' ? undefined : state })}
        />
      }
    >
      {hosts.error === null ? (
        <Table
          label="Hosts"
          bleed
          columns={columnsWith(figures)}
          rows={shown}
          idOf={({ id }) => id}
          isPending={hosts.isPending}
          onOpen={({ id }) => change({ open: id })}
          openId={search.open ?? null}
          empty={
            all.length > 0 ? (
              <EmptyState title="All hosts are healthy">No host fails, is limited or refuses requests.</EmptyState>
            ) : (
              <EmptyState title="No host is configured">
                Set the key of a provider, or add a host to the config file, and start the gateway again.
              </EmptyState>
            )
          }
        />
      ) : (
        <ErrorPanel error={hosts.error} again={() => void hosts.refetch()} />
      )}
      <div className="spacing-page py-4">
        <ReplicaNote>
          If there are several replicas, states and troubles are those of the one that has answered. Another one may
          answer next. Amounts and times are those of all.
        </ReplicaNote>
      </div>
      {hosts.data !== undefined && search.open !== undefined && open === undefined ? (
        <MissingHost id={search.open} onClose={() => change({ open: undefined })} />
      ) : null}
      {open === undefined ? null : (
        <HostDrawer
          key={open.id}
          host={open}
          figures={figures}
          range={range}
          onClose={() => change({ open: undefined })}
        />
      )}
    </Page>
  );
}

function MissingHost({ id, onClose }: { readonly id: string; onClose(): void }): ReactNode {
  return (
    <MissingDrawer title="Host" missing={`There is no host “${id}”`} list="hosts" onClose={onClose}>
      The link may be mistyped, or the host is no longer configured.
    </MissingDrawer>
  );
}

/** What went through the hosts in a range, and what no caller paid for. */
function useHostFigures(range: Range): HostFigures {
  const usage = useApi(
    'GET /usage',
    { since: sinceOf(range), group_by: 'host', metrics: 'requests,cost,first_byte,duration' },
    { keepsPrevious: true },
  );
  const losses = useApi('GET /hosts/losses', { since: sinceOf(range) }, { keepsPrevious: true });
  return {
    usage: new Map((usage.data?.data ?? []).flatMap((row) => (row.host == null ? [] : [[row.host, row]]))),
    isUsageKnown: usage.data !== undefined,
    losses: Map.groupBy(losses.data?.data ?? [], ({ host }) => host ?? ''),
    areLossesKnown: losses.data !== undefined,
  };
}

function columnsWith(figures: HostFigures): readonly Column<Host>[] {
  const { usage } = figures;
  return [
    {
      id: 'host',
      head: 'Host',
      cell: ({ id }) => <span className="block max-w-28 truncate font-medium roomy:max-w-56">{id}</span>,
    },
    { id: 'state', head: 'State', cell: ({ state }) => <HostStateChip state={state} /> },
    {
      id: 'paid',
      head: 'Callers paid',
      align: 'right',
      cell: ({ id }) => <Money nanousd={paidFor(figures, id)} />,
    },
    {
      id: 'losses',
      head: 'Losses',
      align: 'right',
      cell: ({ id }) => <Money nanousd={lostBy(figures, id)} />,
    },
    {
      id: 'requests',
      head: 'Requests',
      align: 'right',
      wideOnly: true,
      cell: ({ id }) => formatCount(requestsThrough(figures, id)),
    },
    {
      id: 'first',
      head: 'First byte, median',
      align: 'right',
      wideOnly: true,
      cell: ({ id }) => formatDuration(usage.get(id)?.first_byte_p50_ms ?? null),
    },
    {
      id: 'slow',
      head: 'First byte, 95 %',
      align: 'right',
      roomyOnly: true,
      cell: ({ id }) => formatDuration(usage.get(id)?.first_byte_p95_ms ?? null),
    },
    { id: 'models', head: 'Models', align: 'right', wideOnly: true, cell: ({ models }) => formatCount(models.length) },
    { id: 'event', head: 'Last trouble', wideOnly: true, cell: (host) => <LastEvent host={host} /> },
  ];
}

function LastEvent({ host }: { readonly host: Host }): ReactNode {
  const [last] = host.events;
  if (last === undefined) return <span className="text-muted">none since the start</span>;
  return (
    <span className="text-muted">
      {eventText(last)} · <Ago at={last.at} />
    </span>
  );
}
