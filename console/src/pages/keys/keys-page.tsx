import type { ReactNode } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Page } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { FilterInput } from '../../shell/filter-input.tsx';
import { useOpenDialog } from '../../shell/open-dialog.ts';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { useKeyColumns } from './key-columns.tsx';
import { KeyDrawer } from './key-drawer.tsx';
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
  const isMinting = useOpenDialog('mint', canHaveKeys);
  const account = useAccountInput();
  const keys = useRows('GET /keys', { ...account, limit: PAGE_ROWS });
  const shown = keys.rows.filter((key) => isShown(key, search.state ?? 'live', search.q ?? ''));
  const isStateSought = search.state !== undefined && search.state !== 'all';
  const isSearch = search.q !== undefined || isStateSought || shown.length === 0;
  const columns = useKeyColumns();
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
          <FilterInput name="q" label="Search keys" placeholder="Search by name or last characters" />
          <Filter
            label="State"
            value={search.state ?? 'live'}
            choices={STATES}
            onChange={(state) => change({ state })}
          />
        </>
      }
    >
      <RowTable
        label="Keys"
        pages={keys}
        rows={shown}
        isSearch={isSearch}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => change({ open: id })}
        openId={search.open ?? null}
        empty={<NoKeys hasAny={keys.rows.length > 0} action={canHaveKeys ? mint : null} />}
      />
      {search.open === undefined ? null : (
        <KeyDrawer key={search.open} keyId={search.open} onClose={() => change({ open: undefined })} />
      )}
      {isMinting ? <MintKeyDialog onClose={() => change({ dialog: undefined })} /> : null}
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
