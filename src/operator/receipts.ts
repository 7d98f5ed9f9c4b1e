import type { z } from 'zod';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { type OperatorReceiptView, operatorReceiptView } from '../canonical/receipt-view.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type * as inputs from './input.ts';
import { toMs } from './input.ts';
import { accountNamed, afterId, keyIn, personIn, receiptNamed } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import type { ListView } from './view.ts';

export async function showReceipt(
  services: OperatorServices,
  input: z.output<typeof inputs.receiptChoice>,
): Promise<OperatorReceiptView> {
  const [view] = await viewsOf(services, [await receiptNamed(services, input.receipt)]);
  return view!;
}

async function viewsOf({ store }: OperatorServices, receipts: readonly Receipt[]): Promise<OperatorReceiptView[]> {
  const refunds = await store.refundsOf(receipts.map(({ id }) => id));
  return receipts.map((receipt) => operatorReceiptView(receipt, refunds.get(receipt.id)));
}

/** Newest first. A page may be short or empty although more follow: a search looks at a bounded number of receipts. */
export async function listReceipts(
  services: OperatorServices,
  input: z.output<typeof inputs.receiptPage>,
): Promise<ListView<OperatorReceiptView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const key = await keyIn(services, input.key, account);
  const person = input.person === null ? null : await personIn(services, input.person, account);
  const filter = {
    accountId: account?.id ?? key?.accountId ?? null,
    keyId: key?.id ?? null,
    personId: person?.id ?? null,
    sinceMs: toMs(input.since),
    untilMs: toMs(input.until),
    model: input.model,
    chain: input.chain,
    route: input.route,
    state: input.status,
    ended: input.ended,
    host: input.host,
  };
  const page = {
    limit: input.limit,
    after: afterId(REQUEST_PREFIX, input.after),
    examineMax: LIMITS.receiptsExaminedMax,
  };
  const { receipts, next } = await services.store.listAccountReceipts(filter, page);
  const data = await viewsOf(services, receipts);
  return { object: 'list', data, next: next === null ? null : formatId(REQUEST_PREFIX, next) };
}
