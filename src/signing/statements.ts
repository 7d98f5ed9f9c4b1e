import { createHash } from 'node:crypto';
import { ACCOUNT_PREFIX, BOOKS_PREFIX, REFUND_PREFIX, REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { receiptView } from '../canonical/receipt-view.ts';
import { tryParseJson } from '../json/json.ts';
import { formatId } from '../kit/ids.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import type { Credit } from '../store/entries.ts';
import type { BooksMark } from '../store/signing.ts';
import type { RootContent } from './verify-proof.ts';

/** What every signed document says about where and when it was signed. */
interface Origin extends BooksMark {
  readonly nowMs: number;
}

/** The row of a price list that a call was charged by, as it is stored. */
export interface PriceRow {
  readonly row: string;
  readonly row_sha256: string;
}

/** The row of a model in the text of a price list; null if it has none, as for a caller's own deployment. */
export function priceRowOf(pricesJson: string | null, model: string): PriceRow | null {
  const prices = pricesJson === null ? null : (tryParseJson(pricesJson) as Readonly<Record<string, object>>);
  if (prices === null || !Object.hasOwn(prices, model)) return null;
  const row = JSON.stringify(prices[model]);
  return { row, row_sha256: createHash('sha256').update(row).digest('hex') };
}

/** Refunds are left out: they come later, and are signed as documents of their own. */
export function receiptStatement(
  origin: Origin,
  receipt: Receipt,
  price: PriceRow | null,
  leaf: string | null,
): string {
  const { object, id, refunded_nanousd: _, ...rest } = receiptView(receipt);
  const account = formatId(ACCOUNT_PREFIX, receipt.accountId);
  return written({ ...originOf(origin), receipt: { object, id, account, ...rest }, price, leaf });
}

export function refundStatement(origin: Origin, refund: Credit): string {
  return written({
    ...originOf(origin),
    refund: {
      object: 'refund',
      id: formatId(REFUND_PREFIX, refund.id),
      account: formatId(ACCOUNT_PREFIX, refund.accountId),
      receipt: formatId(REQUEST_PREFIX, refund.callId!),
      amount_nanousd: refund.amountNanousd,
      reference: refund.reference,
      created: toSeconds(refund.createdMs),
    },
  });
}

/** The numbers in the content are already strings. */
export function rootStatement(origin: Origin, content: RootContent): string {
  return written({ ...originOf(origin), root: { object: 'month_root', ...content } });
}

function originOf({ booksId, generation, nowMs }: Origin) {
  return { books: formatId(BOOKS_PREFIX, booksId), generation, signed_at: toSeconds(nowMs) };
}

/** JSON in which every number is a string, so that no reader rounds it. */
function written(value: object): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' || typeof member === 'number' ? String(member) : member,
  );
}
