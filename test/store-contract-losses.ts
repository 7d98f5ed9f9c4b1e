import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossAt } from '../src/store/loss-allowance.ts';
import type { LedgerOutcome, SettleOperation } from '../src/store/store.ts';
import { aCredit, aHold, anAccount, aSettle } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

const HOUR_MS = 3_600_000;
const OVER = { kind: 'settle_refused', reason: 'loss_allowance' };

/** A call whose client hung up: free, if the account's losses of the hour stay within the limit. */
function hangup(id: bigint, lossLimitNanousd: bigint, lossNanousd = 7n): SettleOperation {
  return { ...aSettle(id, 0n, { ended: 'client_gone', lossNanousd }), lossLimitNanousd };
}

/** The allowance for losses that callers cause. */
export function lossesContract(subject: StoreSubject): void {
  const lost = async (id = 1n) => lossAt((await subject.store.findAccount(id))!, subject.clock.nowMs()).lostNanousd;

  describe('the loss allowance', () => {
    it('is drawn on with the hold of each call, exactly up to the limit', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 60n), aHold(2n, 41n), aHold(3n, 40n)]);
      expect(await subject.kinds(hangup(1n, 100n), hangup(2n, 100n), hangup(3n, 100n))).toEqual([
        'settled',
        'loss_allowance',
        'settled',
      ]);
      expect(await lost()).toBe(100n);
      expect(await subject.balance()).toEqual([1_000n, 41n, 0n]);
    });

    it('is drawn on with the loss of a call, if that is given, exactly up to the limit', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 60n), aHold(2n, 60n), aHold(3n, 60n)]);
      const cut = (id: bigint, accountLossNanousd: bigint) => ({
        ...aSettle(id, 10n),
        lossLimitNanousd: 100n,
        accountLossNanousd,
      });
      expect(await subject.kinds(cut(1n, 50n), cut(2n, 51n), cut(3n, 50n))).toEqual([
        'settled',
        'loss_allowance',
        'settled',
      ]);
      expect([await lost(), await subject.balance()]).toEqual([100n, [980n, 60n, 20n]]);
    });

    it('leaves a refused call open, to be settled otherwise', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 60n)]);
      expect(await subject.store.apply([hangup(1n, 59n)])).toEqual([OVER]);
      expect((await subject.store.findReceipt(1n, null))?.state).toBe('open');
      expect(await subject.kinds(aSettle(1n, 50n))).toEqual(['settled']);
      expect([await lost(), await subject.balance()]).toEqual([0n, [950n, 0n, 50n]]);
    });

    it('is not drawn on by a settlement without a limit, by a repeated one, or by a voided hold', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 10n), aHold(2n, 20n), aHold(3n, 30n)]);
      await subject.store.apply([aSettle(1n, 0n, { lossNanousd: 10n }), hangup(2n, 100n)]);
      await subject.store.apply([{ kind: 'void', id: 3n, reason: 'It died.' }]);
      expect(await subject.kinds(hangup(2n, 100n), hangup(3n, 100n), hangup(4n, 100n))).toEqual([
        'settle_repeated',
        'settle_found_void',
        'no_hold',
      ]);
      expect(await lost()).toBe(20n);
    });

    it('is whole again in the next hour, and does not come back when the clock is set back', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), ...[1n, 2n, 3n, 4n].map((id) => aHold(id, 100n))]);
      expect(await subject.kinds(hangup(1n, 100n), hangup(2n, 100n))).toEqual(['settled', 'loss_allowance']);
      subject.clock.advance(HOUR_MS);
      expect(await subject.kinds(hangup(2n, 100n), hangup(3n, 100n))).toEqual(['settled', 'loss_allowance']);
      subject.clock.advance(-HOUR_MS);
      expect(await subject.kinds(hangup(3n, 100n))).toEqual(['loss_allowance']);
    });

    it('is kept over a restart', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 80n)]);
      await subject.store.apply([hangup(1n, 100n)]);
      await subject.reopen();
      await subject.store.beginInstance();
      await subject.store.apply([aHold(2n, 21n, { epoch: 2n })]);
      expect(await subject.kinds(hangup(2n, 100n))).toEqual(['loss_allowance']);
    });

    it('belongs to one account, and an unlimited account has none', async () => {
      await subject.store.createAccount(anAccount(2n));
      await subject.store.createAccount(anAccount(3n, { kind: 'unlimited' }));
      const holds = [aHold(1n, 90n), aHold(2n, 90n, { accountId: 2n }), aHold(3n, 900n, { accountId: 3n })];
      await subject.store.apply([aCredit(1n, 100n), aCredit(2n, 100n, { accountId: 2n }), ...holds]);
      expect(await subject.kinds(...[1n, 2n, 3n].map((id) => hangup(id, 100n)))).toEqual(Array(3).fill('settled'));
      expect([await lost(1n), await lost(2n), await lost(3n)]).toEqual([90n, 90n, 0n]);
    });

    it('is told with every hold once it was drawn on, for the rest of the hour', async () => {
      const outcomes: LedgerOutcome[] = [];
      const apply = async (...operations: Parameters<typeof subject.store.apply>[0]) =>
        outcomes.push(...(await subject.store.apply(operations)));
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await apply(aHold(1n, 60n));
      await subject.store.apply([hangup(1n, 100n)]);
      await apply(aHold(2n, 10n));
      subject.clock.advance(HOUR_MS);
      await apply(aHold(3n, 10n));
      expect(outcomes).toEqual([{ kind: 'held' }, { kind: 'held', lostNanousd: 60n }, { kind: 'held' }]);
    });

    it('takes losses that have already happened, beyond the limit too', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 60n), aHold(2n, 60n)]);
      const overrun = (id: bigint) => ({ ...aSettle(id, 60n), accountLossNanousd: 70n });
      expect(await subject.kinds(overrun(1n), overrun(2n), overrun(2n))).toEqual([
        'settled',
        'settled',
        'settle_repeated',
      ]);
      expect([await lost(), await subject.balance()]).toEqual([140n, [880n, 0n, 120n]]);
      subject.clock.advance(HOUR_MS);
      expect(await lost()).toBe(0n);
    });

    it('refuses a hold that names a limit once the losses have reached it, and no other hold', async () => {
      const counted = (id: bigint, lossLimitNanousd: bigint) => aHold(id, 10n, { lossLimitNanousd });
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 60n)]);
      expect(await subject.kinds(counted(2n, 0n), counted(3n, 1n))).toEqual(['loss_allowance', 'held']);
      await subject.store.apply([{ ...aSettle(1n, 60n), accountLossNanousd: 70n }]);
      const outcomes = await subject.kinds(counted(4n, 70n), counted(5n, 71n), aHold(6n, 10n));
      expect(outcomes).toEqual(['loss_allowance', 'held', 'held']);
      expect(await subject.balance()).toEqual([940n, 30n, 60n]);
      subject.clock.advance(HOUR_MS);
      expect(await subject.kinds(counted(7n, 70n))).toEqual(['held']);
    });

    it('neither limits nor adds up the overruns of an unlimited account', async () => {
      await subject.store.createAccount(anAccount(3n, { kind: 'unlimited' }));
      const counted = (id: bigint) => aHold(id, 10n, { accountId: 3n, lossLimitNanousd: 0n });
      expect(await subject.kinds(counted(1n), { ...aSettle(1n, 10n), accountLossNanousd: 70n }, counted(2n))).toEqual([
        'held',
        'settled',
        'held',
      ]);
      expect(await lost(3n)).toBe(0n);
    });

    it('is never exceeded by calls that end at the same time, in any order and any batches', async () => {
      const calls = fc.array(fc.record({ held: fc.bigInt(0n, 60n), batch: fc.nat(5) }), {
        minLength: 1,
        maxLength: 24,
      });
      let next = 10n;
      await fc.assert(
        fc.asyncProperty(calls, fc.bigInt(0n, 200n), fc.nat(2), async (made, limit, hours) => {
          subject.clock.advance(HOUR_MS);
          const holds = made.map(({ held }) => aHold(next++, held));
          await subject.store.apply([aCredit(next++, 10_000n), ...holds]);
          const batches = [0, 1, 2, 3, 4, 5].map((batch) =>
            holds.filter((_, at) => made[at]!.batch === batch).map(({ id }) => hangup(id, limit)),
          );
          const ends = batches.filter((batch) => batch.length > 0).map((batch) => subject.store.apply(batch));
          const outcomes = (await Promise.all(ends)).flat();
          const ended = batches.flat().map(({ id }) => holds.find((hold) => hold.id === id)!.amountNanousd);
          const free = ended.filter((_, at) => outcomes[at]!.kind === 'settled');
          const sum = free.reduce((total, held) => total + held, 0n);
          expect(sum).toBeLessThanOrEqual(limit);
          expect(await lost()).toBe(sum);
          const refused = ended.filter((_, at) => outcomes[at]!.kind !== 'settled');
          for (const held of refused) expect(sum + held).toBeGreaterThan(limit);
          subject.clock.advance(hours * HOUR_MS);
        }),
        { numRuns: 20 },
      );
    });
  });
}
