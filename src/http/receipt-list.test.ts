import { expect, test } from 'vitest';
import type { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { ReceiptLists } from './receipt-list.ts';

test('one account reads a bounded number of lists at a time, whichever keys it uses, and others are not affected', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ledger = {
    listAccountReceipts: async ({ accountId }: { accountId: bigint }) => {
      if (accountId === 1n) await released;
      return { receipts: [], next: null };
    },
    refundsOf: async () => new Map(),
  } as unknown as Ledger;
  const lists = new ReceiptLists(ledger);
  const read = (accountId: bigint, keyId: bigint | null) => lists.read({ accountId, keyId, key: null }, '');
  const running = Array.from({ length: LIMITS.receiptListsPerAccountMax }, (_, at) => read(1n, BigInt(at + 1)));
  await expect(read(1n, 99n)).rejects.toMatchObject({ status: 429, retryAfterS: 1 });
  expect(await read(2n, 1n)).toMatchObject({ object: 'list', data: [] });
  const local = read(1n, null);
  release();
  for (const list of [...running, local]) expect(await list).toMatchObject({ has_more: false });
});
