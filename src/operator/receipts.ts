import type { z } from 'zod';
import type { Receipt } from '../canonical/receipt.ts';
import { type OperatorReceiptView, operatorReceiptView } from '../canonical/receipt-view.ts';
import type * as inputs from './input.ts';
import { toMs } from './input.ts';
import { accountNamed, afterId, keyNamed, receiptNamed } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

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

export async function listReceipts(
  services: OperatorServices,
  input: z.output<typeof inputs.receiptPage>,
): Promise<ListView<OperatorReceiptView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const key = input.key === null ? null : await keyNamed(services, input.key);
  const filter = { accountId: account?.id ?? null, keyId: key?.id ?? null, sinceMs: toMs(input.since) };
  const page = { limit: input.limit, after: afterId('req_', input.after) };
  const receipts = await services.store.listReceipts(filter, page);
  return listView(await viewsOf(services, receipts), input.limit);
}
