import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApiError } from '../../api/client.ts';
import { followReceipts } from '../../api/feed.ts';
import type { Receipt } from '../../api/generated/routes.ts';
import { useRows } from '../../api/queries.ts';
import { useAccountInput } from '../../shell/viewer.tsx';
import { withLiveTail } from './live-tail.ts';
import { listsFor, outcomeInput, type RequestFilters } from './request-filters.ts';
import { LIVE_ROWS_MAX, mergeRows, newestOf, type RequestRow, receiptRow, refusalRow } from './request-row.ts';

const PAGE_ROWS = 100;
const LIVE_PAINT_MS = 250;
/** How often the list is read again at most because more calls have ended than the tail keeps. */
const LIVE_RELOAD_MS = 5_000;
/** The gateway writes refused calls about this often. */
const LIVE_REFUSALS_MS = 2_000;

export interface Requests {
  readonly rows: readonly RequestRow[];
  readonly isPending: boolean;
  readonly isStale: boolean;
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly feed: 'off' | 'open' | 'waiting';
  more(): void;
  again(): void;
}

/** Receipts and refusals in one list, with the live tail on top if it is on. */
export function useRequests(filters: RequestFilters): Requests {
  const account = useAccountInput();
  const { outcome, since, key, model, code, host, chain, isLive } = filters;
  const { hasReceipts: showsReceipts, hasRefusals: showsRefusals } = listsFor(filters);
  const receipts = useRows(
    'GET /receipts',
    { ...account, key, model, host, chain, since, ...outcomeInput(outcome), limit: PAGE_ROWS },
    { enabled: showsReceipts },
  );
  const refusals = useRows(
    'GET /refusals',
    { ...account, key, model, code, since, limit: PAGE_ROWS },
    { enabled: showsRefusals },
  );
  useLiveRefusals(isLive && showsRefusals);
  const live = useLiveTail(isLive && showsReceipts, { ...account, key }, receipts.again);
  const receiptRows = showsReceipts ? withLiveTail(receipts.rows, live.receipts, filters) : [];
  const refusalRows = showsRefusals ? refusals.rows : [];
  const lists = [
    { rows: receiptRows.map(receiptRow), hasMore: showsReceipts && receipts.hasMore },
    { rows: refusalRows.map(refusalRow), hasMore: showsRefusals && refusals.hasMore },
  ];
  return {
    rows: mergeRows(...lists),
    isPending: (showsReceipts && receipts.isPending) || (showsRefusals && refusals.isPending),
    isStale: receipts.isStale || refusals.isStale,
    error: receipts.error ?? refusals.error,
    hasMore: lists.some(({ hasMore }) => hasMore),
    isLoadingMore: receipts.isLoadingMore || refusals.isLoadingMore,
    feed: isLive && !showsReceipts ? 'open' : live.state,
    more: () => {
      if (receipts.hasMore && showsReceipts) receipts.more();
      if (refusals.hasMore && showsRefusals) refusals.more();
    },
    again: () => {
      receipts.again();
      refusals.again();
    },
  };
}

interface LiveTail {
  readonly receipts: readonly Receipt[];
  readonly state: 'off' | 'open' | 'waiting';
}

function useLiveTail(
  isOn: boolean,
  filter: Readonly<Record<string, string | undefined>>,
  reload: () => void,
): LiveTail {
  const [tail, setTail] = useState<LiveTail>({ receipts: [], state: 'off' });
  const reloading = useRef(reload);
  reloading.current = reload;
  const { account, key } = filter;
  useEffect(() => {
    if (!isOn) {
      setTail({ receipts: [], state: 'off' });
      return;
    }
    // Hundreds of receipts may come in a second; the page is painted a few times.
    let arrived: Receipt[] = [];
    let [unlisted, listedAtMs] = [0, Date.now()];
    const paint = setInterval(() => {
      // The tail keeps the newest only, so the list is read again: calls between both would be missing without a word.
      if (unlisted > LIVE_ROWS_MAX && Date.now() - listedAtMs >= LIVE_RELOAD_MS) {
        [unlisted, listedAtMs] = [0, Date.now()];
        reloading.current();
      }
      if (arrived.length === 0) return;
      const newest = arrived.reverse();
      arrived = [];
      setTail((before) => ({ ...before, receipts: newestOf(newest, before.receipts) }));
    }, LIVE_PAINT_MS);
    const end = followReceipts(
      { account, key },
      {
        onReceipt: (receipt) => {
          unlisted += 1;
          arrived.push(receipt);
          if (arrived.length > LIVE_ROWS_MAX) arrived.shift();
        },
        onGap: () => reloading.current(),
        onState: (state) => setTail((before) => ({ ...before, state })),
      },
    );
    return () => {
      clearInterval(paint);
      end();
    };
  }, [isOn, account, key]);
  return tail;
}

/** Refused calls are not in the feed, so they are read again and again. */
function useLiveRefusals(isOn: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => void client.invalidateQueries({ queryKey: ['GET /refusals'] }), LIVE_REFUSALS_MS);
    return () => clearInterval(timer);
  }, [isOn, client]);
}
