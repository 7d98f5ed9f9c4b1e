import { describe, expect, it } from 'vitest';
import { custodyContract } from './store-contract-custody.ts';
import { idempotencyContract } from './store-contract-idempotency.ts';
import { jobGroupsContract } from './store-contract-job-groups.ts';
import { jobsContract } from './store-contract-jobs.ts';
import { keysContract } from './store-contract-keys.ts';
import { lossesContract } from './store-contract-losses.ts';
import { moneyContract } from './store-contract-money.ts';
import { callFeedContract, receiptsContract } from './store-contract-receipts.ts';
import { refundsContract } from './store-contract-refunds.ts';
import { rowsContract } from './store-contract-rows.ts';
import { timeContract } from './store-contract-time.ts';
import { windowsContract } from './store-contract-windows.ts';
import type { OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

/** The contract of every engine, and of the memory driver that the engines are compared with elsewhere. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    const subject = new StoreSubject(open);
    moneyContract(subject);
    jobsContract(subject);
    jobGroupsContract(subject);
    refundsContract(subject);
    lossesContract(subject);
    rowsContract(subject);
    keysContract(subject);
    receiptsContract(subject);
    callFeedContract(subject);
    timeContract(subject);
    windowsContract(subject);
    idempotencyContract(subject);
    custodyContract(subject);

    it('reports that it is healthy', async () => {
      expect(await subject.store.health()).toEqual({ ok: true, reason: null, mayAdmit: true });
    });
  });
}
