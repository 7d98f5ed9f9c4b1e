import type { ReactNode } from 'react';
import type { Host, HostLosses } from '../../api/generated/routes.ts';
import { Chip } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Money } from '../../parts/money.tsx';
import { formatCount, formatPrice } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { formatDuration } from '../../parts/time-format.ts';
import { PageLink } from '../../shell/page-link.tsx';
import type { Range } from '../overview/range.ts';
import { eventsWithIds, eventText } from './host-event.ts';
import { type HostFigures, lostBy, paidFor, requestsThrough } from './host-figures.ts';
import { HostStateChip, stateMeaning } from './host-state.tsx';

interface HostDrawerProps {
  readonly host: Host;
  readonly figures: HostFigures;
  readonly range: Range;
  onClose(): void;
}

/** One host: what went through it, its models with their place by price, and what went wrong. */
export function HostDrawer({ host, figures, range, onClose }: HostDrawerProps): ReactNode {
  const usage = figures.usage.get(host.id);
  const paid = paidFor(figures, host.id);
  const lost = lostBy(figures, host.id);
  return (
    <Drawer title={host.id} onClose={onClose}>
      <div className="flex flex-col gap-5">
        <Facts
          facts={[
            [
              'State',
              <span key="state" className="flex flex-wrap items-center gap-2">
                <HostStateChip state={host.state} />
                <span className="text-muted">{stateMeaning(host.state)}</span>
              </span>,
            ],
            ['Callers paid', <Money key="paid" nanousd={paid} />],
            ['It may bill', <Money key="billed" nanousd={paid === null || lost === null ? null : paid + lost} />],
            ['Requests', `${formatCount(requestsThrough(figures, host.id))} in ${range.label}`],
            [
              'First byte',
              `${formatDuration(usage?.first_byte_p50_ms)} median, ${formatDuration(usage?.first_byte_p95_ms)} for 95 %`,
            ],
            [
              'Whole call',
              `${formatDuration(usage?.duration_p50_ms)} median, ${formatDuration(usage?.duration_p95_ms)} for 95 %`,
            ],
            ['Recent streams', `${formatDuration(host.first_byte_ms)} to the first byte`],
          ]}
        />
        <p>
          <PageLink to="/requests" search={{ host: host.id }} className="font-medium text-accent hover:underline">
            Its requests
          </PageLink>
        </p>
        <LossPanel losses={figures.losses.get(host.id) ?? []} isKnown={figures.areLossesKnown} />
        <EventPanel host={host} />
        <ModelPanel host={host} />
      </div>
    </Drawer>
  );
}

function LossPanel({ losses, isKnown }: { readonly losses: HostLosses['data']; readonly isKnown: boolean }): ReactNode {
  const none = isKnown ? 'Callers paid for everything in this time.' : 'Not known now.';
  return (
    <Panel title="What no caller paid for">
      <Table
        label="Losses by reason"
        rows={losses}
        idOf={({ reason }) => reason ?? 'none'}
        empty={<p className="px-4 pb-4 text-muted">{none}</p>}
        columns={[
          { id: 'reason', head: 'Reason', cell: ({ reason }) => (reason ?? 'not known').replaceAll('_', ' ') },
          { id: 'calls', head: 'Calls', align: 'right', cell: ({ calls }) => formatCount(calls) },
          { id: 'loss', head: 'Loss', align: 'right', cell: ({ loss_nanousd }) => <Money nanousd={loss_nanousd} /> },
        ]}
      />
    </Panel>
  );
}

function EventPanel({ host }: { readonly host: Host }): ReactNode {
  return (
    <Panel title="Latest problems">
      <Table
        label="Events"
        rows={eventsWithIds(host.events)}
        idOf={({ id }) => id}
        empty={<p className="px-4 pb-4 text-muted">Nothing since the gateway was started.</p>}
        columns={[
          { id: 'what', head: 'What', cell: (event) => eventText(event) },
          { id: 'when', head: 'When', align: 'right', cell: ({ at }) => <Ago at={at} /> },
        ]}
      />
    </Panel>
  );
}

function ModelPanel({ host }: { readonly host: Host }): ReactNode {
  return (
    <Panel title="Models and what it bills, per million tokens">
      <Table
        label="Models of the host"
        rows={host.models}
        idOf={({ model }) => model}
        empty={<p className="px-4 pb-4 text-muted">It serves no model of the catalog.</p>}
        columns={[
          {
            id: 'model',
            head: 'Model',
            className: 'wrap-anywhere',
            cell: ({ model, host_model }) => (
              <PageLink to="/models" search={{ open: model }} title={host_model} className="hover:underline">
                {model}
              </PageLink>
            ),
          },
          { id: 'input', head: 'Input', align: 'right', cell: ({ input }) => formatPrice(input) },
          { id: 'output', head: 'Output', align: 'right', cell: ({ output }) => formatPrice(output) },
          {
            id: 'place',
            head: 'Place',
            align: 'right',
            cell: ({ place }) => (place === 1 ? <Chip tone="good">cheapest</Chip> : <Chip>{`${place}.`}</Chip>),
          },
        ]}
      />
    </Panel>
  );
}
