import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { DIED_REASON } from '../src/store/store.ts';
import { aCredit, aHold, aKey, aSettle, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

/** What depends on the clock and on restarts of the process. */
export function timeContract(subject: StoreSubject): void {
  describe('key windows', () => {
    const DAY_MS = 86_400_000;
    const spend = async (id: bigint, amount: bigint, cost: bigint) =>
      subject.kinds(aHold(id, amount, { keyId: 7n }), aSettle(id, cost));

    it('count by UTC day, week from Monday, month, or lifetime', async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      const at = (month: number, day: number) => Date.UTC(2026, month, day);
      const spans = {
        lifetime: [0, null],
        day: [at(2, 15), at(2, 16)],
        week: [at(2, 9), at(2, 16)],
        month: [at(2, 1), at(3, 1)],
      } as const;
      let id = 10n;
      for (const [window, [startMs, resetsMs]] of Object.entries(spans)) {
        await subject.store.createKey(aKey(++id, 1n, { capWindow: window as keyof typeof spans }));
        await subject.store.apply([aHold(id, 9n, { keyId: id })]);
        expect(await subject.store.keyWindow(id)).toEqual({
          window,
          startMs,
          resetsMs,
          spentNanousd: 0n,
          heldNanousd: 9n,
          reservedNanousd: 0n,
        });
      }
      expect(await subject.store.keyWindow(99n)).toBeNull();
    });

    it('start at zero when their time comes, while late settlements go to the window of their hold', async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 100n, capWindow: 'day' }));
      expect(await spend(1n, 100n, 30n)).toEqual(['held', 'settled']);
      expect(await subject.kinds(aHold(2n, 70n, { keyId: 7n }), aHold(3n, 1n, { keyId: 7n }))).toEqual([
        'held',
        'key_cap',
      ]);
      subject.clock.advance(DAY_MS);
      expect(await subject.kinds(aHold(4n, 100n, { keyId: 7n }))).toEqual(['held']);
      expect(await subject.kinds(aSettle(2n, 70n))).toEqual(['settled']);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ spentNanousd: 0n, heldNanousd: 100n });
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('never move back with the clock, even across a restart', async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 100n, capWindow: 'day' }));
      subject.clock.advance(DAY_MS);
      await spend(1n, 100n, 100n);
      subject.clock.setNowMs(NOON_MS);
      expect(await subject.kinds(aHold(2n, 1n, { keyId: 7n }))).toEqual(['key_cap']);
      await subject.reopen();
      expect(await subject.kinds(aHold(3n, 1n, { keyId: 7n }))).toEqual(['key_cap']);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ startMs: Date.UTC(2026, 2, 16), spentNanousd: 100n });
    });

    it('start at zero when the kind of window changes, and continue when it changes back', async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 100n, capWindow: 'day' }));
      subject.clock.setNowMs(Date.UTC(2026, 5, 1, 8));
      await spend(1n, 100n, 100n);
      for (const capWindow of ['week', 'month', 'lifetime'] as const) {
        await subject.store.updateKey(7n, { capWindow });
        expect(await subject.store.keyWindow(7n)).toMatchObject({ window: capWindow, spentNanousd: 0n });
      }
      expect(await spend(2n, 60n, 60n)).toEqual(['held', 'settled']);
      await subject.store.updateKey(7n, { capWindow: 'day' });
      expect(await subject.kinds(aHold(3n, 1n, { keyId: 7n }))).toEqual(['key_cap']);
      expect((await subject.store.verify()).violations).toEqual([]);
    });
  });

  describe('instances', () => {
    it('stay registered until another one replaces them', async () => {
      expect(await subject.store.heartbeat(1n)).toMatchObject({ lastCallId: 0n });
      const { epoch } = await subject.store.beginInstance();
      expect([await subject.store.heartbeat(1n), await subject.store.heartbeat(epoch)]).toEqual([
        null,
        { lastCallId: 0n },
      ]);
    });

    it('void the open holds of earlier epochs, and refuse new ones from those', async () => {
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 900n }));
      await subject.store.apply([
        aCredit(1n, 1_000n),
        aHold(1n, 400n, { keyId: 7n }),
        aHold(2n, 300n),
        aSettle(2n, 100n),
      ]);
      await subject.reopen();
      subject.clock.advance(1_000);
      expect(await subject.store.beginInstance()).toEqual({
        number: 2,
        epoch: 2n,
        lastCallId: 2n,
        voidedHolds: 1,
        replaced: null,
      });
      expect(await subject.balance()).toEqual([900n, 0n, 100n]);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ spentNanousd: 0n, heldNanousd: 0n });
      expect(await subject.store.findReceipt(1n, 1n)).toMatchObject({
        state: 'voided',
        ended: 'died',
        endedMs: NOON_MS + 1_000,
        lossNanousd: 400n,
        lossReason: DIED_REASON,
      });
      expect(await subject.kinds(aHold(3n, 1n), aHold(4n, 1n, { epoch: 2n }), aSettle(1n, 5n))).toEqual([
        'stale_epoch',
        'held',
        'settle_found_void',
      ]);
      expect((await subject.store.verify()).lossNanousd).toBe(400n);
    });

    it('learn the highest id of any call, even after the receipts were deleted', async () => {
      expect((await subject.store.beginInstance()).lastCallId).toBe(0n);
      const { epoch } = await subject.store.beginInstance();
      await subject.store.apply([aCredit(1n, 1_000n), aHold(900n, 10n, { epoch }), aHold(500n, 10n, { epoch })]);
      await subject.store.apply([aSettle(900n, 10n), aSettle(500n, 10n)]);
      expect((await subject.store.beginInstance()).lastCallId).toBe(900n);
      subject.clock.advance(2 * LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(NOON_MS * 2)).toEqual({ closed: 2, forgotten: 2 });
      await subject.reopen();
      expect((await subject.store.beginInstance()).lastCallId).toBe(900n);
    });

    it('have a number that fits into ids', async () => {
      for (let start = 2; start <= 5; start++) expect((await subject.store.beginInstance()).number).toBe(start);
    });
  });

  describe('verify', () => {
    it('counts the rows and finds no violation', async () => {
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.apply([
        aCredit(1n, 1_000n),
        aCredit(2n, -100n),
        aHold(1n, 400n, { keyId: 7n }),
        aHold(2n, 300n),
      ]);
      await subject.store.apply([aSettle(2n, 100n, { lossNanousd: 7n, lossReason: 'a host billed more' })]);
      expect(await subject.store.verify()).toEqual({
        accounts: 1,
        keys: 1,
        receipts: 1,
        credits: 2,
        refunds: 0,
        openHolds: 1,
        lossNanousd: 7n,
        closedMonths: 0,
        closedReceipts: 0,
        sinceMonthMs: null,
        notKept: 0,
        withoutTree: 0,
        violations: [],
      });
    });
  });

  describe('closing the books', () => {
    beforeEach(async () => {
      await subject.store.createKey(aKey(7n, 1n));
      await subject.store.apply([aCredit(1n, 1_000n)]);
      for (const id of [1n, 2n, 3n]) {
        await subject.store.apply([
          aHold(id, 100n, { keyId: 7n, createdMs: subject.clock.nowMs() }),
          aSettle(id, 10n * id),
        ]);
        subject.clock.advance(60_000);
      }
    });

    it('covers exactly the calls that can no longer change', async () => {
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 0, forgotten: 0 });
      subject.clock.advance(LIMITS.closingAgeMs - 60_000);
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 3, forgotten: 0 });
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 0, forgotten: 0 });
      const closed = { closedMonths: 1, closedReceipts: 3, notKept: 0 };
      expect(await subject.store.verify()).toMatchObject({ receipts: 3, ...closed, violations: [] });
    });

    it('stops at an open hold', async () => {
      await subject.store.apply([
        aHold(4n, 5n, { createdMs: subject.clock.nowMs() }),
        aHold(5n, 5n, { createdMs: subject.clock.nowMs() }),
      ]);
      await subject.store.apply([aSettle(5n, 5n)]);
      subject.clock.advance(10 * LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 3, forgotten: 0 });
      await subject.store.apply([aSettle(4n, 5n)]);
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 2, forgotten: 0 });
      expect(await subject.store.verify()).toMatchObject({ receipts: 5, violations: [] });
    });

    it('lets closed receipts be deleted while verification still succeeds', async () => {
      subject.clock.advance(LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(NOON_MS + 60_000)).toEqual({ closed: 3, forgotten: 1 });
      expect(await subject.store.findReceipt(1n, null)).toBeNull();
      expect((await subject.store.findReceipt(2n, null))?.costNanousd).toBe(20n);
      const left = { closedReceipts: 2, notKept: 1 };
      expect(await subject.store.verify()).toMatchObject({ receipts: 3, ...left, violations: [] });
      expect(await subject.balance()).toEqual([940n, 0n, 60n]);
      expect(await subject.store.keyWindow(7n)).toMatchObject({ spentNanousd: 60n });
      await subject.store.apply([aHold(9n, 10n, { keyId: 7n }), aSettle(9n, 10n)]);
      expect(await subject.store.closeBooks(NOON_MS * 2)).toEqual({ closed: 1, forgotten: 3 });
      const gone = { closedReceipts: 0, notKept: 4 };
      expect(await subject.store.verify()).toMatchObject({ receipts: 4, ...gone, violations: [] });
    });

    it('deletes no receipt before an older one of the same account, whatever its time says', async () => {
      const nowMs = subject.clock.nowMs();
      await subject.store.apply([aHold(4n, 5n, { createdMs: nowMs - 90_000 }), aSettle(4n, 5n)]);
      subject.clock.advance(2 * LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(nowMs - 80_000)).toEqual({ closed: 4, forgotten: 2 });
      expect(await subject.store.findReceipt(4n, null)).not.toBeNull();
      expect(await subject.store.verify()).toMatchObject({ closedReceipts: 2, notKept: 2, violations: [] });
    });

    it('deletes receipts whose time is in the future with the next older one', async () => {
      const aheadMs = subject.clock.nowMs() + 365 * 86_400_000;
      subject.clock.setNowMs(aheadMs);
      await subject.store.apply([aHold(4n, 5n, { createdMs: aheadMs }), aSettle(4n, 5n)]);
      subject.clock.advance(2 * LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 4, forgotten: 0 });
      subject.clock.setNowMs(NOON_MS + 2 * LIMITS.closingAgeMs);
      await subject.store.apply([aHold(5n, 5n, { createdMs: NOON_MS + 60_000 }), aSettle(5n, 5n)]);
      expect(await subject.store.closeBooks(NOON_MS)).toEqual({ closed: 1, forgotten: 0 });
      expect(await subject.store.closeBooks(NOON_MS + 180_000)).toEqual({ closed: 0, forgotten: 5 });
      expect(await subject.store.verify()).toMatchObject({ receipts: 5, notKept: 5, violations: [] });
    });

    it('does not wait for the time of calls that were made while the clock was ahead', async () => {
      const rightMs = subject.clock.nowMs();
      const aheadMs = rightMs + 365 * 86_400_000;
      await subject.store.apply([aHold(4n, 5n, { createdMs: aheadMs }), aSettle(4n, 5n)]);
      await subject.store.apply([aHold(5n, 5n, { createdMs: rightMs }), aSettle(5n, 5n)]);
      subject.clock.advance(2 * LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 5, forgotten: 0 });
      expect(await subject.store.verify()).toMatchObject({ closedMonths: 1, closedReceipts: 5, violations: [] });
      expect(await subject.store.closeBooks(rightMs + 1)).toEqual({ closed: 0, forgotten: 5 });
      expect(await subject.store.verify()).toMatchObject({ receipts: 5, notKept: 5, violations: [] });
    });

    it('waits for calls that are only a little ahead of the clock', async () => {
      subject.clock.advance(LIMITS.closingAgeMs);
      const createdMs = subject.clock.nowMs() + LIMITS.closingAgeMs - 1;
      await subject.store.apply([aHold(4n, 5n, { createdMs }), aSettle(4n, 5n)]);
      expect(await subject.store.closeBooks(null)).toEqual({ closed: 3, forgotten: 0 });
    });

    it('refuses holds with an id in the closed part', async () => {
      subject.clock.advance(LIMITS.closingAgeMs);
      await subject.store.closeBooks(NOON_MS * 2);
      expect(await subject.kinds(aHold(2n, 1n), aHold(4n, 1n))).toEqual(['operation_failed', 'held']);
    });
  });
}
