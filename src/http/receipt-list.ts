import type { Caller } from '../accounts/authenticate.ts';
import { missingPermission } from '../accounts/permissions.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import { type ReceiptView, receiptView } from '../canonical/receipt-view.ts';
import { formatId } from '../kit/ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { readAfter, readLimit, readQuery, readText, readTime } from './query-parameters.ts';

const PARAMETERS = ['since', 'until', 'model', 'chain', 'after', 'limit'];
const LIMIT_DEFAULT = 100;

interface ReceiptList {
  readonly object: 'list';
  readonly data: readonly ReceiptView[];
  readonly has_more: boolean;
  readonly next: string | null;
}

type ReceiptReads = Pick<Ledger, 'listAccountReceipts' | 'refundsOf'>;

/** A page of the caller's receipts, newest first: those of its key, or of the account if it may read that. */
export async function listReceipts(ledger: ReceiptReads, caller: Caller, query: string): Promise<ReceiptList> {
  const given = readQuery(query, PARAMETERS);
  const filter = {
    accountId: caller.accountId,
    keyId: missingPermission(caller, 'account_read') === null ? null : caller.keyId,
    sinceMs: readTime(given, 'since'),
    untilMs: readTime(given, 'until'),
    model: readText(given, 'model', LIMITS.modelIdCharsMax),
    chain: readText(given, 'chain', LIMITS.chainIdCharsMax),
  };
  const after = readAfter(given, REQUEST_PREFIX, 'must be the `next` of the previous page, or the id of a receipt');
  const page = { limit: readLimit(given, LIMIT_DEFAULT), after, examineMax: LIMITS.receiptsExaminedMax };
  const { receipts, next } = await ledger.listAccountReceipts(filter, page);
  const refunds = await ledger.refundsOf(receipts.map(({ id }) => id));
  return {
    object: 'list',
    data: receipts.map((receipt) => receiptView(receipt, refunds.get(receipt.id))),
    has_more: next !== null,
    next: next === null ? null : formatId(REQUEST_PREFIX, next),
  };
}
