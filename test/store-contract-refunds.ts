import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditRow } from '../src/store/people.ts';
import type { CreditOperation } from '../src/store/store.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

function aRefund(id: bigint, callId: bigint, amount: bigint, over: Partial<CreditOperation> = {}): CreditOperation {
  return aCredit(id, amount, { callId, ...over });
}

/** Credits that name the call they pay back. */
export function refundsContract(subject: StoreSubject): void {
  describe('refunds', () => {
    beforeEach(async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 100n), aSettle(1n, 60n)]);
    });

    it('add to the balance up to the cost of the call, and leave the receipt and the spending as they are', async () => {
      const before = await subject.store.findReceipt(1n, null);
      expect(
        await subject.kinds(aRefund(2n, 1n, 20n), aRefund(3n, 1n, 41n), aRefund(4n, 1n, 40n), aRefund(5n, 1n, 1n)),
      ).toEqual(['credited', 'exceeds_cost', 'credited', 'exceeds_cost']);
      expect(await subject.balance()).toEqual([1_000n, 0n, 60n]);
      expect(await subject.store.findReceipt(1n, null)).toEqual(before);
      expect(await subject.store.refundsOf([1n, 2n])).toEqual(new Map([[1n, 60n]]));
      expect(await subject.store.verify()).toMatchObject({ credits: 1, refunds: 2, violations: [] });
    });

    it('are made once per reference, also in one batch', async () => {
      const refund = (id: bigint) => aRefund(id, 1n, 20n, { reference: 'ticket' });
      expect(await subject.kinds(refund(2n), refund(3n))).toEqual(['credited', 'credit_repeated']);
      await subject.reopen();
      expect(await subject.kinds(refund(4n))).toEqual(['credit_repeated']);
      expect(await subject.kinds(aRefund(5n, 1n, 21n, { reference: 'ticket' }))).toEqual(['reference_differs']);
      expect(await subject.kinds(aCredit(6n, 20n, { reference: 'ticket' }))).toEqual(['reference_differs']);
      expect(await subject.store.findCredit(1n, 'ticket')).toMatchObject({ id: 2n, callId: 1n, amountNanousd: 20n });
      expect(await subject.store.findCredit(1n, 'other')).toBeNull();
      expect(await subject.balance()).toEqual([960n, 0n, 60n]);
    });

    it('are refused for calls that are open, voided, unknown or of another account, and below zero', async () => {
      await subject.store.createAccount(anAccount(2n));
      await subject.store.apply([aHold(2n, 50n), aHold(3n, 50n), { kind: 'void', id: 3n, reason: 'test' }]);
      expect(
        await subject.kinds(
          aRefund(10n, 2n, 1n),
          aRefund(11n, 3n, 1n),
          aRefund(12n, 9n, 1n),
          aRefund(13n, 1n, 1n, { accountId: 2n }),
          aRefund(14n, 1n, -1n),
          aRefund(15n, 1n, 0n),
        ),
      ).toEqual(['not_settled', 'not_settled', 'no_receipt', 'no_receipt', 'negative_refund', 'zero']);
      expect(await subject.balance()).toEqual([940n, 50n, 60n]);
    });

    it('may follow the settlement in the same batch', async () => {
      expect(await subject.kinds(aHold(5n, 30n), aSettle(5n, 30n), aRefund(6n, 5n, 30n))).toEqual([
        'held',
        'settled',
        'credited',
      ]);
      expect(await subject.balance()).toEqual([940n, 0n, 90n]);
    });

    it('work for closed receipts, and no more for those that were deleted', async () => {
      subject.clock.advance(2 * 3_600_000);
      expect(await subject.store.closeBooks(null)).toMatchObject({ closed: 1 });
      expect(await subject.kinds(aRefund(2n, 1n, 20n))).toEqual(['credited']);
      subject.clock.advance(90 * 86_400_000);
      expect(await subject.store.closeBooks(subject.clock.nowMs() - 86_400_000)).toMatchObject({ forgotten: 1 });
      expect(await subject.kinds(aRefund(3n, 1n, 20n))).toEqual(['no_receipt']);
      expect(await subject.store.verify()).toMatchObject({ refunds: 1, violations: [] });
    });

    it('never exceed the cost, however many arrive at once', async () => {
      const refunds = Array.from({ length: 40 }, (_, at) => aRefund(BigInt(at + 10), 1n, 7n));
      const outcomes = await Promise.all(refunds.map((refund) => subject.kinds(refund)));
      expect(outcomes.flat().filter((kind) => kind === 'credited')).toHaveLength(8);
      expect(await subject.store.refundsOf([1n])).toEqual(new Map([[1n, 56n]]));
      expect((await subject.store.verify()).violations).toEqual([]);
    });
  });

  it("lists an account's credits, refunds, closed months and open holds, the newest first", async () => {
    await subject.store.createKey(aKey(7n, 1n));
    const day = BigInt(NOON_MS - Date.UTC(2024, 0, 1)) << 22n;
    const at = (position: bigint) => day + position;
    await subject.store.apply([
      aCredit(at(1n), 1_000n, { note: 'first' }),
      aHold(at(2n), 100n),
      aSettle(at(2n), 60n),
      aRefund(at(3n), at(2n), 5n),
    ]);
    subject.clock.advance(2 * 3_600_000);
    await subject.store.closeBooks(null);
    await subject.store.apply([aHold(at(9n), 30n, { keyId: 7n, createdMs: NOON_MS + 1 })]);
    const entries = await subject.store.listEntries(1n, { before: null, limit: 10 });
    expect(entries).toMatchObject([
      { kind: 'hold', hold: { id: at(9n), keyId: 7n, heldNanousd: 30n, createdMs: NOON_MS + 1 } },
      { kind: 'credit', credit: { id: at(3n), callId: at(2n), amountNanousd: 5n, note: null } },
      { kind: 'credit', credit: { id: at(1n), callId: null, amountNanousd: 1_000n, note: 'first' } },
      { kind: 'month', month: { monthMs: Date.UTC(2026, 2, 1), calls: 1, spentNanousd: 60n } },
    ]);
    const pages = [];
    for (let before: bigint | null = null; ; ) {
      const page = await subject.store.listEntries(1n, { before, limit: 1 });
      if (page.length === 0) break;
      pages.push(...page);
      before = page[0]!.position;
    }
    expect(pages).toEqual(entries);
    expect(await subject.store.listEntries(2n, { before: null, limit: 10 })).toEqual([]);
  });
}

/** For engines that keep the audit. */
export function creditAuditContract(name: string, open: OpenStore): void {
  describe(`the audit of a credit: ${name}`, () => {
    const subject = new StoreSubject(open);
    const audit = (id: bigint): AuditRow => ({
      id,
      atMs: NOON_MS,
      actorKind: 'management_key',
      actorId: 5n,
      actorName: 'ci',
      action: 'account.credit',
      subject: 'acct_1',
      accountId: 1n,
      before: null,
      after: '{"note":"ü"}',
      address: '10.0.0.1',
    });
    const rows = () =>
      subject.store.directory.listAudit(
        { accountId: null, actorId: null, action: null, subject: null, sinceMs: null, untilMs: null },
        { before: null, limit: 10 },
      );

    it('is written in the same commit, and not for a credit that is refused or repeated', async () => {
      const credit = (id: bigint, amount: bigint) => aCredit(id, amount, { reference: 'r', audit: audit(100n + id) });
      expect(await subject.kinds(credit(1n, 50n), credit(2n, 50n), credit(3n, 0n), credit(4n, 51n))).toEqual([
        'credited',
        'credit_repeated',
        'zero',
        'reference_differs',
      ]);
      expect(await rows()).toEqual([audit(101n)]);
    });

    it('keeps the credit from being made if it cannot be written, and nothing else', async () => {
      const clash = aCredit(2n, 50n, { audit: audit(101n) });
      expect(await subject.kinds(aCredit(1n, 50n, { audit: audit(101n) }), clash, aCredit(3n, 1n))).toEqual([
        'credited',
        'operation_failed',
        'credited',
      ]);
      expect(await subject.balance()).toEqual([51n, 0n, 0n]);
      expect(await rows()).toHaveLength(1);
    });
  });
}
