import { type ReactNode, useEffect, useState } from 'react';
import type { AuditEntry } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { Chip } from '../../parts/chip.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { TextInput } from '../../parts/field.tsx';
import { Filter } from '../../parts/filter.tsx';
import { MissingDrawer } from '../../parts/missing-drawer.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { AuditDrawer } from './audit-drawer.tsx';
import { ACTIONS, actionLabel, changedMembers } from './audit-words.ts';

const PAGE_ROWS = 100;
const DAY = 86_400;

const TIMES = [
  { value: 'any', label: 'any' },
  { value: '1', label: 'last 24 h' },
  { value: '7', label: 'last 7 days' },
  { value: '30', label: 'last 30 days' },
];

/** Who changed what. */
export default function AuditPage(): ReactNode {
  const { search, change } = useFilters();
  const account = useAccountInput();
  const input = { ...account, ...filtersOf(search) };
  const entries = useRows('GET /audit', { ...input, limit: PAGE_ROWS });
  const columns = useColumns();
  const isFiltered = ['action', 'days', 'actor', 'subject'].some((name) => search[name] !== undefined);
  const open = entries.rows.find(({ id }) => id === search.open);
  return (
    <Page
      title="Audit"
      bleed
      actions={<ExportButton route="GET /audit" input={input} name="audit" />}
      filters={
        <>
          <Filter
            label="Time"
            value={search.days ?? 'any'}
            choices={TIMES}
            onChange={(days) => change({ days: days === 'any' ? undefined : days })}
          />
          <Filter
            label="Action"
            value={search.action ?? 'any'}
            choices={ACTIONS}
            onChange={(action) => change({ action: action === 'any' ? undefined : action })}
          />
          <PersonFilter
            value={search.actor ?? ''}
            onChange={(actor) => change({ actor: actor === '' ? undefined : actor })}
          />
          {search.subject === undefined ? null : (
            <Filter
              label="What"
              value={search.subject}
              choices={[{ value: '', label: 'any' }]}
              onChange={() => change({ subject: undefined })}
            />
          )}
        </>
      }
    >
      <RowTable
        label="Changes"
        pages={entries}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => change({ open: id })}
        openId={search.open ?? null}
        empty={
          isFiltered ? (
            <EmptyState title="No change matches the filters">Choose a longer period, or another action.</EmptyState>
          ) : (
            <EmptyState title="No changes yet">
              Every change of keys, people, credits and settings appears here.
            </EmptyState>
          )
        }
      />
      {!entries.isPending && !entries.isStale && search.open !== undefined && open === undefined ? (
        <MissingChange id={search.open} onClose={() => change({ open: undefined })} />
      ) : null}
      {open === undefined ? null : <AuditDrawer entry={open} onClose={() => change({ open: undefined })} />}
    </Page>
  );
}

function MissingChange({ id, onClose }: { readonly id: string; onClose(): void }): ReactNode {
  return (
    <MissingDrawer title="Change" missing={`There is no change “${id}” in the list`} list="the list" onClose={onClose}>
      It is not among the changes that were read. Load more of them, or remove a filter.
    </MissingDrawer>
  );
}

/** Looked up when somebody presses Enter, because the server knows whole addresses only. */
function PersonFilter({ value, onChange }: { readonly value: string; onChange(value: string): void }): ReactNode {
  const [text, setText] = useState(value);
  // "Back" and links change the address without a word typed here.
  useEffect(() => setText(value), [value]);
  return (
    <form
      className="w-full wide:w-auto"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <TextInput
        type="search"
        aria-label="By whom: email address or id"
        placeholder="By whom: email address or id"
        value={text}
        onChange={(next) => {
          setText(next);
          if (next === '') onChange('');
        }}
        className="!h-7 wide:!w-60"
      />
    </form>
  );
}

/** A range begins at a full minute, so that the same page is not read again and again. */
function filtersOf(search: Readonly<Record<string, string | undefined>>) {
  const now = Math.floor(Date.now() / 60_000) * 60;
  const days = Number(search.days);
  return {
    ...(search.action === undefined ? {} : { action: search.action }),
    ...(search.actor === undefined || search.actor === '' ? {} : { actor: search.actor }),
    ...(search.subject === undefined ? {} : { subject: search.subject }),
    ...(Number.isInteger(days) && days > 0 ? { since: now - days * DAY } : {}),
  };
}

function useColumns(): readonly Column<AuditEntry>[] {
  const { account, accounts } = useViewer();
  const nameOf = (id: string | null): string => accounts.find((each) => each.id === id)?.name ?? id ?? '–';
  return [
    { id: 'time', head: 'Time', className: 'whitespace-nowrap text-muted', cell: ({ at }) => <Ago at={at} /> },
    { id: 'who', head: 'Who', cell: (entry) => <Actor entry={entry} /> },
    {
      id: 'action',
      head: 'Action',
      cell: ({ action }) => <span className="font-medium wide:whitespace-nowrap">{actionLabel(action)}</span>,
    },
    {
      id: 'subject',
      head: 'What',
      wideOnly: true,
      cell: ({ subject }) => (
        <span className="block max-w-44 truncate large:max-w-56 font-mono text-small">{subject}</span>
      ),
    },
    {
      id: 'changed',
      head: 'Changed',
      roomyOnly: true,
      className: 'text-muted',
      cell: (entry) => (
        <span className="block max-w-32 truncate large:max-w-60">{changedMembers(entry).join(', ')}</span>
      ),
    },
    ...(account === null
      ? [
          {
            id: 'account',
            head: 'Account',
            roomyOnly: true,
            cell: (entry: AuditEntry) => <span className="block max-w-32 truncate">{nameOf(entry.account)}</span>,
          },
        ]
      : []),
    {
      id: 'address',
      head: 'Address',
      align: 'right',
      largeOnly: true,
      cell: ({ address }) => <span className="font-mono text-small text-muted">{address ?? '–'}</span>,
    },
  ];
}

const KINDS: Readonly<Record<AuditEntry['actor']['kind'], string | null>> = {
  person: null,
  management_key: 'management key',
  command_line: 'command line',
  configuration: 'config file',
  gateway_key: 'gateway key',
};

export function Actor({ entry }: { readonly entry: AuditEntry }): ReactNode {
  const kind = KINDS[entry.actor.kind];
  return (
    <span className="flex max-w-28 min-w-0 items-center gap-2 wide:max-w-40 roomy:max-w-64">
      <span className="truncate">{entry.actor.name}</span>
      {kind === null || kind === entry.actor.name ? null : (
        <span className="hidden roomy:inline">
          <Chip>{kind}</Chip>
        </span>
      )}
    </span>
  );
}
