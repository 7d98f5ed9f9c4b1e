import { type ReactNode, useEffect } from 'react';
import { useApi } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import type { Choice } from '../../parts/field.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Page } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { timeZoneName } from '../../parts/time-format.ts';
import { CustomDays } from '../../shell/custom-days.tsx';
import { keyChoices } from '../../shell/key-choices.ts';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput } from '../../shell/viewer.tsx';
import { ChainSummary } from './chain-section.tsx';
import { ReceiptDrawer } from './receipt-drawer.tsx';
import { useRequestColumns } from './request-columns.tsx';
import { listsFor, OUTCOMES, outcomeInput, type RequestFilters, readFilters, TIMES } from './request-filters.ts';
import { type Requests, useRequests } from './use-requests.ts';

/** Every call, refused ones too, the newest first; a row opens its receipt. */
export default function RequestsPage(): ReactNode {
  const { search, change } = useFilters();
  const filters = readFilters(search);
  const requests = useRequests(filters);
  const columns = useRequestColumns();
  const { rows } = requests;
  const at = rows.findIndex(({ id }) => id === search.open);
  const open = (id: string): void => change({ open: id }, { replace: search.open !== undefined });
  useFollowSelection(search.open);
  return (
    <Page
      title="Requests"
      bleed
      actions={<Actions requests={requests} filters={filters} />}
      filters={<FilterBar filters={filters} />}
    >
      {filters.chain === undefined || requests.isPending ? null : <ChainSummary requests={requests} />}
      {requests.error === null || rows.length > 0 ? (
        <Table
          label={`Requests, times in ${timeZoneName()}`}
          bleed
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          isPending={requests.isPending}
          isStale={requests.isStale}
          skeletonRows={16}
          onOpen={({ id }) => open(id)}
          openId={search.open ?? null}
          empty={<NoRequests isFiltered={isFiltered(filters)} />}
        />
      ) : null}
      {requests.error === null ? null : <ErrorPanel error={requests.error} again={requests.again} />}
      {requests.hasMore && requests.error === null ? (
        <div className="spacing-page py-4">
          <Button busy={requests.isLoadingMore} onClick={requests.more}>
            Load older requests
          </Button>
        </div>
      ) : null}
      {search.open === undefined ? null : (
        <ReceiptDrawer
          requestId={search.open}
          kind={rows[at]?.kind ?? null}
          previous={at > 0 ? rows[at - 1]!.id : null}
          next={at >= 0 && at < rows.length - 1 ? rows[at + 1]!.id : null}
          onOpen={open}
          onClose={() => change({ open: undefined }, { replace: true })}
        />
      )}
    </Page>
  );
}

/** Keeps the open row in sight when arrow keys move to the next one. */
function useFollowSelection(openId: string | undefined): void {
  useEffect(() => {
    if (openId !== undefined)
      document.querySelector(`[data-row="${CSS.escape(openId)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [openId]);
}

function isFiltered({ outcome, since, until, key, model, code, host, chain }: RequestFilters): boolean {
  return outcome !== 'any' || [since, until, key, model, code, host, chain].some((value) => value !== undefined);
}

function NoRequests({ isFiltered: filtered }: { readonly isFiltered: boolean }): ReactNode {
  if (filtered)
    return <EmptyState title="No request matches the filters">Change or remove one of the filters above.</EmptyState>;
  return (
    <EmptyState title="No requests yet">
      Every call appears here with its receipt, and every refused call with its reason.
    </EmptyState>
  );
}

function Actions({ requests, filters }: { readonly requests: Requests; readonly filters: RequestFilters }): ReactNode {
  const { change } = useFilters();
  const account = useAccountInput();
  const { outcome, key, model, since, until, code, host, chain, isLive } = filters;
  const { hasReceipts, hasRefusals } = listsFor(filters);
  const refusals = {
    route: 'GET /refusals',
    input: { ...account, key, model, code, since, until },
    name: 'refusals',
  } as const;
  const labels = { off: 'Live', open: 'Live', waiting: 'Live, connecting' };
  return (
    <>
      <Button
        aria-pressed={isLive}
        disabled={until !== undefined}
        onClick={() => change({ live: isLive ? undefined : '1' })}
      >
        <span
          aria-hidden
          className={`size-2 rounded-full ${requests.feed === 'open' ? 'bg-accent' : requests.feed === 'waiting' ? 'bg-warning' : 'bg-line-strong'}`}
        />
        {labels[requests.feed]}
      </Button>
      {hasReceipts ? (
        <ExportButton
          route="GET /receipts"
          input={{ ...account, key, model, host, chain, since, until, ...outcomeInput(outcome) }}
          name="receipts"
          {...(hasRefusals ? { also: { ...refusals, label: 'Refused calls' } } : {})}
        />
      ) : (
        <ExportButton {...refusals} />
      )}
    </>
  );
}

const ANY: Choice = { value: '', label: 'any' };
const KEYS_MAX = 1_000;
/** Filters that links of other pages set; here they can only be removed. */
const FROM_ELSEWHERE = [
  { name: 'code', label: 'Reason' },
  { name: 'host', label: 'Host' },
  { name: 'chain', label: 'Chain' },
] as const;

function FilterBar({ filters }: { readonly filters: RequestFilters }): ReactNode {
  const { search, change } = useFilters();
  const account = useAccountInput();
  const keys = useApi('GET /keys', { ...account, limit: KEYS_MAX }, { staleMs: 30_000 });
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  const payers = keyChoices(keys.data?.data ?? []);
  const modelChoices = (models.data?.data ?? []).map(({ id }) => ({ value: id, label: id }));
  const chosen = (value: string): string | undefined => (value === '' || value === 'any' ? undefined : value);
  return (
    <>
      <Filter
        label="Time"
        value={search.time ?? 'any'}
        choices={TIMES}
        onChange={(time) => change({ time: chosen(time), from: undefined, to: undefined })}
      />
      {search.time === 'custom' ? <CustomDays /> : null}
      <Filter
        label="Key"
        value={search.key ?? ''}
        choices={[ANY, ...payers]}
        onChange={(key) => change({ key: chosen(key) })}
      />
      <Filter
        label="Model"
        value={search.model ?? ''}
        choices={[ANY, ...modelChoices]}
        onChange={(model) => change({ model: chosen(model) })}
      />
      <Filter
        label="Outcome"
        value={filters.outcome}
        choices={OUTCOMES}
        onChange={(show) => change({ show: chosen(show), code: undefined })}
      />
      {FROM_ELSEWHERE.map(({ name, label }) =>
        search[name] === undefined ? null : (
          <Filter
            key={name}
            label={label}
            value={search[name]}
            choices={[ANY]}
            onChange={(value) => change({ [name]: chosen(value) })}
          />
        ),
      )}
      {isFiltered(filters) ? (
        <Button
          tone="quiet"
          onClick={() =>
            change({
              time: undefined,
              from: undefined,
              to: undefined,
              key: undefined,
              model: undefined,
              show: undefined,
              code: undefined,
              host: undefined,
              chain: undefined,
            })
          }
        >
          Clear filters
        </Button>
      ) : null}
    </>
  );
}
