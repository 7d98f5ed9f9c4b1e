import type { ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { useOpenDialog } from '../../shell/open-dialog.ts';
import { useFilters } from '../../shell/search.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { MintKeyDialog } from '../keys/mint-key.tsx';
import { CapPanel } from './cap-panel.tsx';
import { Figures } from './figures.tsx';
import { FirstCall } from './first-call.tsx';
import { RANGES, rangeOf } from './range.ts';
import { RefusalPanel } from './refusal-panel.tsx';
import { SpendPanel } from './spend-panel.tsx';
import { SpenderPanel } from './spender-panel.tsx';

/** What was spent, by whom, and what was refused. An empty gateway teaches the first call instead. */
export default function OverviewPage(): ReactNode {
  const { search, change } = useFilters();
  const { canHaveKeys } = useViewer();
  const isMinting = useOpenDialog('mint', canHaveKeys);
  const range = rangeOf(search.range);
  const isEmpty = useIsEmpty();
  return (
    <Page
      title="Overview"
      actions={
        <>
          {isEmpty === false ? (
            <Segmented
              label="Time"
              value={range.value}
              choices={RANGES}
              onChange={(value) => change({ range: value })}
            />
          ) : null}
          {canHaveKeys ? (
            <Button tone="primary" onClick={() => change({ dialog: 'mint' })}>
              New key
            </Button>
          ) : null}
        </>
      }
    >
      {isEmpty === true ? <FirstCall /> : null}
      {isEmpty === true ? null : (
        <>
          <Figures />
          <SpendPanel range={range} />
          <div className="grid gap-5 roomy:grid-cols-2">
            <CapPanel />
            <RefusalPanel />
          </div>
          <SpenderPanel range={range} />
        </>
      )}
      {isMinting ? <MintKeyDialog onClose={() => change({ dialog: undefined })} /> : null}
    </Page>
  );
}

const DAYS = 86_400;

/** Null until it is known. A gateway counts as empty if nothing was called within the longest range. */
function useIsEmpty(): boolean | null {
  const account = useAccountInput();
  const usage = useApi('GET /usage', { ...account, since: longAgo(), metrics: 'requests,refused' }, { staleMs: 5_000 });
  if (usage.data === undefined) return usage.error === null ? null : false;
  const { requests, refused } = usage.data.totals;
  return (requests ?? 0) + (refused ?? 0) === 0;
}

/** The same for a whole day, so that it is not read again and again. */
function longAgo(): number {
  const today = Math.floor(Date.now() / 1000 / DAYS) * DAYS;
  return today - 365 * DAYS;
}
