import type { z } from 'zod';
import { type OperatorReceiptView, operatorReceiptView } from '../canonical/receipt-view.ts';
import { parseId } from '../kit/ids.ts';
import { OperatorError } from './error.ts';
import type * as inputs from './input.ts';
import { toMs } from './input.ts';
import { accountNamed, afterId, keyNamed } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

export async function showReceipt(
  { store }: OperatorServices,
  input: z.output<typeof inputs.receiptChoice>,
): Promise<OperatorReceiptView> {
  const id = parseId('req_', input.receipt);
  const receipt = id === null ? null : await store.findReceipt(id, null);
  if (receipt !== null) return operatorReceiptView(receipt);
  throw new OperatorError('not_found', `There is no receipt "${input.receipt}".`, 'tollgate receipts list');
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
  return listView(
    receipts.map((receipt) => operatorReceiptView(receipt)),
    input.limit,
  );
}
