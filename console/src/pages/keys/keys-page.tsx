import type { ReactNode } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { useApi, useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { TextInput } from '../../parts/field.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Money } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useMemberNames } from '../../shell/member-names.ts';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { CapMeter } from './cap-meter.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { KeyHint } from './key-hint.tsx';
import { KeyStatus } from './key-status.tsx';
import { MintKeyDialog } from './mint-key.tsx';

const STATES = [
  { value: 'live', label: 'not revoked' },
  { value: 'active', label: 'active' },
  { value: 'disabled', label: 'disabled' },
  { value: 'revoked', label: 'revoked' },
  { value: 'all', label: 'any' },
];
const PAGE_ROWS = 200;

/** Every key with what it has spent of its cap. */
export default function KeysPage(): ReactNode {
  const { search, change } = useFilters();
  const { canHaveKeys } = useViewer();
  const account = useAccountInput();
  const keys = useRows('GET /keys', { ...account, limit: PAGE_ROWS });
  const shown = keys.rows.filter((key) => isShown(key, search.state ?? 'live', search.q ?? ''));
  const columns = useColumns();
  const mint = (
    <Button tone="primary" onClick={() => change({ dialog: 'mint' })}>
      New key
    </Button>
  );
  return (
    <Page
      title="Keys"
      bleed
      actions={canHaveKeys ? mint : null}
      filters={
        <>
          <TextInput
            type="search"
            aria-label="Search keys"
            placeholder="Search by name or last characters"
            value={search.q ?? ''}
            onChange={(q) => change({ q }, { replace: true })}
            className="!h-7 !w-72"
          />
          <Filter
            label="State"
            value={search.state ?? 'live'}
            choices={STATES}
            onChange={(state) => change({ state })}
          />
        </>
      }
    >
      {keys.error === null ? (
        <Table
          label="Keys"
          bleed
          columns={columns}
          rows={shown}
          idOf={({ id }) => id}
          isPending={keys.isPending}
          onOpen={({ id }) => change({ open: id })}
          openId={search.open ?? null}
          empty={<NoKeys hasAny={keys.rows.length > 0} action={canHaveKeys ? mint : null} />}
        />
      ) : (
        <ErrorPanel error={keys.error} again={keys.again} />
      )}
      {keys.hasMore ? (
        <div className="spacing-page py-4">
          <Button busy={keys.isLoadingMore} onClick={keys.more}>
            Load more keys
          </Button>
        </div>
      ) : null}
      {search.open === undefined ? null : (
        <KeyDrawer key={search.open} keyId={search.open} onClose={() => change({ open: undefined })} />
      )}
      {search.dialog === 'mint' ? <MintKeyDialog onClose={() => change({ dialog: undefined })} /> : null}
    </Page>
  );
}

function isShown(key: ShownKey, state: string, text: string): boolean {
  const isState = state === 'all' || (state === 'live' ? key.status !== 'revoked' : key.status === state);
  return (
    isState && `${key.name} ${key.hint} ${key.id} ${key.note ?? ''}`.toLowerCase().includes(text.trim().toLowerCase())
  );
}

function NoKeys({ hasAny, action }: { readonly hasAny: boolean; readonly action: ReactNode }): ReactNode {
  if (hasAny)
    return (
      <EmptyState title="No key matches the filters">Change the state or the text that is searched for.</EmptyState>
    );
  return (
    <EmptyState title="No keys yet" action={action}>
      A key lets a program make calls. Give each program its own, with a cap, and you see what each one spends.
    </EmptyState>
  );
}

/** Long before there were keys: everything that a key has ever spent. */
const BEGINNING = 1_600_000_000;

function useLifetimeSpend(): ReadonlyMap<string, bigint> {
  const account = useAccountInput();
  const usage = useApi(
    'GET /usage',
    { ...account, since: BEGINNING, group_by: 'key', metrics: 'cost' },
    { staleMs: 60_000 },
  );
  return new Map(
    (usage.data?.data ?? []).flatMap(({ key, cost_nanousd }) =>
      key === null || cost_nanousd === null ? [] : [[key, cost_nanousd]],
    ),
  );
}

function useColumns(): readonly Column<ShownKey>[] {
  const lifetime = useLifetimeSpend();
  const { account, accounts } = useViewer();
  const memberOf = useMemberNames();
  const personColumn: Column<ShownKey> = {
    id: 'person',
    head: 'Belongs to',
    wideOnly: true,
    cell: ({ person }) => (
      <span className="block max-w-44 truncate">
        {person === null ? <span className="text-muted">nobody</span> : (memberOf?.(person) ?? person)}
      </span>
    ),
  };
  const accountColumn: Column<ShownKey> = {
    id: 'account',
    head: 'Account',
    wideOnly: true,
    cell: (key) => accounts.find(({ id }) => id === key.account)?.name ?? key.account,
  };
  return [
    {
      id: 'name',
      head: 'Key',
      cell: ({ name, hint }) => (
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="max-w-60 truncate font-medium">{name}</span>
          <KeyHint hint={hint} />
        </span>
      ),
    },
    { id: 'state', head: 'State', cell: (key) => <KeyStatus shownKey={key} /> },
    { id: 'spent', head: 'Spent of cap', cell: (key) => <CapMeter shownKey={key} /> },
    {
      id: 'resets',
      head: 'Resets',
      wideOnly: true,
      cell: ({ resets_at }) => <Ago at={resets_at} none="never" zone="UTC" />,
    },
    {
      id: 'lifetime',
      head: 'Spent in total',
      align: 'right',
      wideOnly: true,
      cell: ({ id }) => <Money nanousd={lifetime.get(id) ?? 0n} />,
    },
    ...(account === null ? [accountColumn] : memberOf === null ? [] : [personColumn]),
    {
      id: 'used',
      head: 'Last used',
      align: 'right',
      wideOnly: true,
      cell: ({ last_used_at }) => <Ago at={last_used_at} none="never" />,
    },
    {
      id: 'expires',
      head: 'Expires',
      align: 'right',
      wideOnly: true,
      cell: ({ expires_at }) => <Ago at={expires_at} none="never" />,
    },
    {
      id: 'models',
      head: 'Models',
      align: 'right',
      wideOnly: true,
      cell: ({ models }) => (
        <span title={models?.join(', ')}>
          {models === null ? 'all' : models.length === 1 ? models[0] : `${models.length} models`}
        </span>
      ),
    },
  ];
}
