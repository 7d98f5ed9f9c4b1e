import type { ReactNode } from 'react';
import type { System } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Chip } from '../../parts/chip.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { formatBytes, formatCount } from '../../parts/money-format.ts';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { formatDuration } from '../../parts/time-format.ts';
import { FilterInput } from '../../shell/filter-input.tsx';
import { useFilters } from '../../shell/search.ts';
import { ReplicaNote } from './replica-note.tsx';
import { SealPanel } from './seal-panel.tsx';
import { flattenSettings } from './settings.ts';
import { VerifyPanel } from './verify-panel.tsx';

/** The gateway itself: what runs, whether its ledger is correct, and with which settings. */
export default function SystemPage(): ReactNode {
  const system = useApi('GET /system', {}, { refetchMs: 10_000 });
  return (
    <Page title="System">
      {system.error === null ? null : <ErrorPanel error={system.error} again={() => void system.refetch()} />}
      <div className="grid items-start gap-5 wide:grid-cols-2">
        {system.data === undefined && system.error !== null ? null : (
          <Panel title="Gateway">
            <div className="flex flex-col gap-3 px-4 pb-4">
              {system.data === undefined ? <Skeleton className="h-44 w-full" /> : <SystemFacts system={system.data} />}
              <ReplicaNote>
                If there are several replicas, this is the one that has answered. Another one may answer next.
              </ReplicaNote>
            </div>
          </Panel>
        )}
        <div className="flex flex-col gap-5">
          <VerifyPanel />
          <SealPanel />
        </div>
      </div>
      {system.data === undefined ? null : <AcceptedLosses system={system.data} />}
      {system.data === undefined ? null : <Settings system={system.data} />}
    </Page>
  );
}

function SystemFacts({ system }: { readonly system: System }): ReactNode {
  const { store, server, settings, clock_behind_ms: behindMs } = system;
  return (
    <Facts
      facts={[
        ['Version', system.version],
        [
          'Mode',
          server?.hosted === true ? 'hosted: people sign in' : 'local: whoever is on this machine is the operator',
        ],
        ['Address', server === null ? '–' : mono(server.url)],
        ['Process', server === null ? '–' : mono(String(server.pid))],
        ['Started', <Ago key="started" at={server?.started} />],
        [
          'Store',
          <span key="store" className="flex flex-wrap items-center gap-2">
            {String(settings.store)}
            <Chip tone={store.ok ? 'good' : 'error'}>{store.ok ? 'well' : 'failing'}</Chip>
            {store.may_admit ? null : <Chip tone="error">refuses new calls</Chip>}
          </span>,
        ],
        ...(store.reason === null ? [] : [['Why', store.reason] as const]),
        ['Disk', system.disk_free_bytes === null ? '–' : `${formatBytes(system.disk_free_bytes)} free`],
        ['Clock', behindMs > 0 ? `${formatDuration(behindMs)} behind the last call of the ledger` : 'well'],
        ['Models', formatCount(system.models)],
        ['Price list', mono(system.price_version)],
      ]}
    />
  );
}

function mono(text: string): ReactNode {
  return <span className="font-mono text-small">{text}</span>;
}

function AcceptedLosses({ system }: { readonly system: System }): ReactNode {
  const { accepted_losses: losses } = system;
  if (losses.length === 0) return null;
  return (
    <Panel title="Receipts lost with a damaged file">
      <Table
        label="Accepted losses"
        rows={losses}
        idOf={({ accepted }) => String(accepted)}
        columns={[
          { id: 'when', head: 'Accepted', cell: ({ accepted }) => <Ago at={accepted} /> },
          { id: 'receipts', head: 'Receipts', align: 'right', cell: ({ receipts }) => formatCount(receipts) },
          {
            id: 'spent',
            head: 'Spent',
            align: 'right',
            cell: ({ spent_nanousd }) => <Money nanousd={spent_nanousd} />,
          },
        ]}
      />
    </Panel>
  );
}

function Settings({ system }: { readonly system: System }): ReactNode {
  const { search } = useFilters();
  const text = (search.q ?? '').trim().toLowerCase();
  const rows = flattenSettings(system.settings, system.setting_sources).filter(({ name, value, source }) =>
    `${name} ${value} ${source ?? 'default'}`.toLowerCase().includes(text),
  );
  return (
    <Panel
      title="Settings in force"
      actions={<FilterInput name="q" label="Search settings" placeholder="Search settings" width="!w-56" />}
    >
      <Table
        label="Settings"
        rows={rows}
        idOf={({ name }) => name}
        empty={<p className="px-4 pb-4 text-muted">No setting matches.</p>}
        columns={[
          {
            id: 'name',
            head: 'Setting',
            className: 'w-1/3',
            cell: ({ name }) => <span className="font-mono text-small break-all">{name}</span>,
          },
          {
            id: 'value',
            head: 'Value',
            cell: ({ value }) => <span className="font-mono text-small break-all text-muted">{value}</span>,
          },
          { id: 'source', head: 'From', cell: ({ source }) => <SettingSource source={source} /> },
        ]}
      />
      <p className="border-t border-line px-4 py-3 text-small text-muted">
        Read at the start. Flags override variables, which override the config file. Secrets are not shown.
      </p>
    </Panel>
  );
}

function SettingSource({ source }: { readonly source: string | null }): ReactNode {
  if (source === null) return <span className="text-muted">default</span>;
  return source === 'config file' ? source : <span className="font-mono text-small">{source}</span>;
}
