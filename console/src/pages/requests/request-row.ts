import type { Receipt, Refusal } from '../../api/generated/routes.ts';

/** A call that was admitted, with its receipt, or one that was refused before it could cost anything. */
export type RequestRow =
  | { readonly kind: 'receipt'; readonly id: string; readonly receipt: Receipt }
  | { readonly kind: 'refusal'; readonly id: string; readonly refusal: Refusal };

/** The same receipt gives the same row, so that a list that grows renders only what is new. */
const receiptRows = new WeakMap<Receipt, RequestRow>();
const refusalRows = new WeakMap<Refusal, RequestRow>();

export function receiptRow(receipt: Receipt): RequestRow {
  const kept = receiptRows.get(receipt) ?? { kind: 'receipt', id: receipt.id, receipt };
  receiptRows.set(receipt, kept);
  return kept;
}

export function refusalRow(refusal: Refusal): RequestRow {
  const kept = refusalRows.get(refusal) ?? { kind: 'refusal', id: refusal.id, refusal };
  refusalRows.set(refusal, kept);
  return kept;
}

interface LoadedList {
  readonly rows: readonly RequestRow[];
  readonly hasMore: boolean;
  /** The list has every newer row, whatever its last one is. */
  readonly completeAfter?: string | null;
}

/**
 * Two lists as one, the newest first. Ids grow with time. While one list has more to load, rows older than its last one are
 * left out: something that is not loaded yet may belong between them.
 */
export function mergeRows(...lists: readonly LoadedList[]): readonly RequestRow[] {
  const oldest = lists.map(endOf).toSorted().at(-1) ?? '';
  const byId = new Map(lists.flatMap(({ rows }) => rows).map((row) => [row.id, row]));
  return [...byId.values()].filter(({ id }) => id >= oldest).toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** Greater than every id. */
const NO_ROW = '\uffff';

/** Rows from this id on are all known. */
function endOf({ rows, hasMore, completeAfter }: LoadedList): string {
  if (!hasMore) return '';
  const last = rows.at(-1)?.id ?? NO_ROW;
  return completeAfter != null && completeAfter < last ? completeAfter : last;
}

/** What a page keeps of the live tail: enough to scroll through, and not too much for a browser. */
export const LIVE_ROWS_MAX = 500;
