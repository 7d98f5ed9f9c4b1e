import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApiError } from '../../api/client.ts';
import { followReceipts } from '../../api/feed.ts';
import { lookAgainWhoReads, type RowPages, useRows } from '../../api/queries.ts';
import { useAccountInput } from '../../shell/viewer.tsx';
import { joined, ListReloads, type LiveCalls, NO_CALLS, withGap, withLiveTail } from './live-tail.ts';
import { listsFor, outcomeInput, type RequestFilters } from './request-filters.ts';
import { mergeRows, type RequestRow, receiptRow, refusalRow } from './request-row.ts';

const PAGE_ROWS = 100;
const LIVE_PAINT_MS = 250;
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
  const { outcome, since, until, key, model, code, host, chain, isLive } = filters;
  const { hasReceipts: showsReceipts, hasRefusals: showsRefusals } = listsFor(filters);
  const receipts = useRows(
    'GET /receipts',
    { ...account, key, model, host, chain, since, until, ...outcomeInput(outcome), limit: PAGE_ROWS },
    { enabled: showsReceipts },
  );
  const refusals = useRows(
    'GET /refusals',
    { ...account, key, model, code, since, until, limit: PAGE_ROWS },
    { enabled: showsRefusals },
  );
  useLiveRefusals(isLive && showsRefusals, refusals.pageCount);
  const live = useLiveTail(isLive && showsReceipts, { ...account, key }, receipts);
  const receiptRows = showsReceipts ? withLiveTail(receipts.rows, live.calls.receipts, filters) : [];
  const refusalRows = showsRefusals ? refusals.rows : [];
  const lists = [
    {
      rows: receiptRows.map(receiptRow),
      hasMore: showsReceipts && receipts.hasMore,
      // A list that was just read again may end before the tail does, and rows that somebody looks at would go away.
      completeAfter: live.calls.droppedId,
    },
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
  readonly calls: LiveCalls;
  readonly state: 'off' | 'open' | 'waiting';
}

const OFF: LiveTail = { calls: NO_CALLS, state: 'off' };

function useLiveTail(
  isOn: boolean,
  filter: Readonly<Record<string, string | undefined>>,
  list: Pick<RowPages<unknown>, 'again' | 'pageCount'>,
): LiveTail {
  const client = useQueryClient();
  const [tail, setTail] = useState<LiveTail>(OFF);
  const listed = useRef(list);
  listed.current = list;
  const { account, key } = filter;
  useEffect(() => {
    // Calls of another account or key do not stay.
    setTail(OFF);
    if (!isOn) return;
    // Hundreds of receipts may come in a second; the page is painted a few times.
    let [arrived, wasOpen] = [NO_CALLS, false];
    const reloads = new ListReloads();
    const change = (next: (calls: LiveCalls) => LiveCalls): void =>
      setTail(({ calls, state }) => ({ calls: next(calls), state }));
    const show = (): void => {
      const newer = arrived;
      arrived = NO_CALLS;
      if (newer !== NO_CALLS) change((calls) => joined(newer, calls));
    };
    const paint = setInterval(() => {
      const isBeingRead = client.isFetching({ queryKey: ['GET /receipts'] }) > 0;
      const { again, pageCount } = listed.current;
      if (reloads.takeDue(Date.now(), isBeingRead, pageCount)) again();
      show();
    }, LIVE_PAINT_MS);
    const end = followReceipts(
      { account, key },
      {
        onReceipt: (receipt) => {
          reloads.arrived();
          arrived = joined({ receipts: [receipt], droppedId: null }, arrived);
        },
        onGap: () => {
          show();
          change(withGap);
          reloads.missed();
        },
        onRefused: (status) => lookAgainWhoReads(client, status),
        onState: (state) => {
          // The list may be minutes old when somebody turns the tail on, and the feed begins only now.
          if (state === 'open' && !wasOpen) reloads.missed();
          wasOpen ||= state === 'open';
          setTail(({ calls }) => ({ calls, state }));
        },
      },
    );
    return () => {
      clearInterval(paint);
      end();
    };
  }, [isOn, account, key, client]);
  return tail;
}

/** Refused calls are not in the feed, so they are read again and again: the more pages of them, the more rarely. */
function useLiveRefusals(isOn: boolean, pageCount: number): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isOn) return;
    // Not while they are read: a slow gateway would never get to the end, and older ones that somebody asked for would not come.
    const readAgain = (): void =>
      void client.invalidateQueries({ queryKey: ['GET /refusals'] }, { cancelRefetch: false });
    const timer = setInterval(readAgain, LIVE_REFUSALS_MS * Math.max(1, pageCount));
    return () => clearInterval(timer);
  }, [isOn, pageCount, client]);
}
