import type { Receipt } from '../../canonical/receipt.ts';
import { idRangeOf, nextOf } from '../account-receipts.ts';
import type { AccountReceiptFilter, ReceiptPage, ReceiptSlice } from '../store.ts';

/** What the engines do with their indexes. */
export function sliceOf(
  newestFirst: readonly Receipt[],
  filter: AccountReceiptFilter,
  page: ReceiptPage,
): ReceiptSlice {
  const { from, below } = idRangeOf(filter, page);
  const isIndexed = ({ id, accountId, chain }: Receipt): boolean =>
    (filter.accountId === null || accountId === filter.accountId) &&
    id >= from &&
    id < below &&
    (filter.chain === null || chain?.startsWith(`${filter.chain};`) === true);
  const examined = newestFirst.filter(isIndexed).slice(0, page.examineMax);
  const found = examined.filter((receipt) => isWanted(receipt, filter));
  const last = examined.length === page.examineMax ? examined.at(-1)!.id : null;
  const ids = found.map(({ id }) => id);
  return {
    receipts: found.slice(0, page.limit).map((receipt) => ({ ...receipt })),
    next: nextOf(ids, page.limit, last),
  };
}

function isWanted(receipt: Receipt, filter: AccountReceiptFilter): boolean {
  const {
    keyId,
    personId = null,
    sinceMs,
    untilMs,
    model,
    route = null,
    state = null,
    ended = null,
    host = null,
  } = filter;
  const { createdMs, requestedModel, effectiveModel } = receipt;
  return (
    (keyId === null || receipt.keyId === keyId) &&
    (personId === null || receipt.personId === personId) &&
    (sinceMs === null || createdMs >= sinceMs) &&
    (untilMs === null || createdMs < untilMs) &&
    (model === null || requestedModel === model || effectiveModel === model) &&
    (route === null || receipt.route === route) &&
    (state === null || receipt.state === state) &&
    (ended === null || receipt.ended === ended) &&
    (host === null || receipt.host === host)
  );
}
