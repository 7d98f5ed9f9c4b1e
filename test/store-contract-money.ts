import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import { INT64_MAX } from '../src/store/int64.ts';
import { CAP_WINDOWS } from '../src/store/store.ts';
import { aPerson, audit } from './people-fixtures.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

/** The four operations on money. */
export function moneyContract(subject: StoreSubject): void {
  describe('apply', () => {
    it('returns the outcomes in order, and none for an empty batch', async () => {
      expect(await subject.store.apply([])).toEqual([]);
      expect(
        await subject.kinds(aCredit(1n, 100n), aHold(1n, 60n), aHold(2n, 60n), aSettle(1n, 10n), aHold(3n, 60n)),
      ).toEqual(['credited', 'held', 'balance', 'settled', 'held']);
      expect(await subject.balance()).toEqual([90n, 60n, 10n]);
    });

    it('lets an operation that breaks a rule fail alone', async () => {
      const outcomes = await subject.kinds(
        aCredit(1n, 1_000n),
        aHold(1n, 100n),
        aHold(1n, 50n, { requestedModel: 'a name never seen before' }),
        aHold(2n, 100n, { priceId: 99 }),
        aCredit(1n, 5n, { reference: 'other' }),
        aHold(3n, 100n, { requestedModel: 'a name never seen before' }),
        aSettle(1n, 70n),
      );
      const failed = 'operation_failed';
      expect(outcomes).toEqual(['credited', 'held', failed, failed, failed, 'held', 'settled']);
      expect(await subject.balance()).toEqual([930n, 100n, 70n]);
      expect(await subject.store.findReceipt(2n, null)).toBeNull();
      expect((await subject.store.findReceipt(3n, null))?.requestedModel).toBe('a name never seen before');
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('stores names and texts that are not well-formed, without affecting other operations', async () => {
      const halves = ['\ud800/model', 'model\udc00', `${'x'.repeat(LIMITS.storedNameCharsMax - 1)}\u{1f600}`];
      const odd = [...halves, 'zero \0 in it'].flatMap((text, at) => {
        const id = BigInt(10 * at + 10);
        const labels = { [text]: text };
        return [
          aHold(id, 10n, { requestedModel: text, labels }),
          aHold(id + 1n, 10n, { effectiveModel: text, route: text }),
          aSettle(id, 5n, { host: text, lossReason: text, tries: [{ host: text, outcome: text, ms: 1 }] }),
          aCredit(id, 1n, { note: text }),
        ];
      });
      const outcomes = await subject.kinds(aCredit(1n, 1_000n), aHold(1n, 60n), ...odd, aSettle(1n, 10n));
      const each = ['held', 'held', 'settled', 'credited'];
      expect(outcomes).toEqual(['credited', 'held', ...each, ...each, ...each, ...each, 'settled']);
      expect((await subject.store.findReceipt(10n, 1n))?.requestedModel.toWellFormed()).toBe('\uFFFD/model');
      expect(await subject.balance()).toEqual([974n, 40n, 30n]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('keeps everything across a restart', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 400n), aHold(2n, 300n), aSettle(1n, 250n)]);
      await subject.reopen();
      expect(await subject.balance()).toEqual([750n, 300n, 250n]);
      expect(await subject.kinds(aHold(3n, 451n), aHold(4n, 450n), aSettle(2n, 300n))).toEqual([
        'balance',
        'held',
        'settled',
      ]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });
  });

  describe('hold', () => {
    beforeEach(async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      await subject.store.createKey(aKey(7n, 1n, { capNanousd: 500n }));
    });

    it('refuses in the documented order, and returns the available amount', async () => {
      await subject.store.createAccount(anAccount(2n));
      const refusal = async (over: Parameters<typeof aHold>[2], amount = 600n) =>
        (await subject.store.apply([aHold(9n, amount, { keyId: 7n, ceilingNanousd: 400n, ...over })]))[0];
      const refused = (reason: string, availableNanousd: bigint | null = null) => ({
        kind: 'hold_refused',
        reason,
        availableNanousd,
      });
      expect(await refusal({ epoch: 9n, accountId: 9n, keyId: 9n }, -1n)).toEqual(refused('out_of_range'));
      expect(await refusal({ epoch: 9n, accountId: 9n, keyId: 9n }, 2n ** 70n)).toEqual(refused('out_of_range'));
      expect(await refusal({ epoch: 9n, accountId: 9n, keyId: 9n })).toEqual(refused('stale_epoch'));
      expect(await refusal({ accountId: 9n, keyId: 9n })).toEqual(refused('no_account'));
      expect(await refusal({ keyId: 9n })).toEqual(refused('key_inactive'));
      expect(await refusal({ accountId: 2n })).toEqual(refused('key_inactive'));
      expect(await refusal({})).toEqual(refused('cost_ceiling', 400n));
      expect(await refusal({ ceilingNanousd: 600n })).toEqual(refused('key_cap', 500n));
      expect(await refusal({ ceilingNanousd: null, keyId: null }, 1_001n)).toEqual(refused('balance', 1_000n));
      expect(await subject.store.findReceipt(9n, null)).toBeNull();
      expect(await subject.balance()).toEqual([1_000n, 0n, 0n]);
    });

    it('passes at exactly the ceiling, the cap and the balance', async () => {
      const exact = aHold(1n, 500n, { keyId: 7n, ceilingNanousd: 500n });
      expect(await subject.kinds(exact, aHold(2n, 500n), aHold(3n, 0n), aHold(4n, 1n))).toEqual([
        'held',
        'held',
        'held',
        'balance',
      ]);
      expect(await subject.balance()).toEqual([1_000n, 1_000n, 0n]);
    });

    it('never returns a negative rest for a cap that was lowered', async () => {
      await subject.store.apply([aHold(1n, 300n, { keyId: 7n })]);
      await subject.store.updateKey(7n, { capNanousd: 100n });
      expect(await subject.store.apply([aHold(2n, 1n, { keyId: 7n })])).toEqual([
        { kind: 'hold_refused', reason: 'key_cap', availableNanousd: 0n },
      ]);
    });

    it('admits a call that costs nothing, however far a cap was lowered', async () => {
      const { directory } = subject.store;
      const member = { accountId: 1n, personId: 1n, role: 'member', capWindow: 'day' } as const;
      await directory.createPerson(aPerson(1n), audit('person.create'));
      await directory.putMembership({ ...member, capNanousd: 500n }, audit('member.put'));
      await subject.store.createKey(aKey(8n, 1n, { personId: 1n, capNanousd: 500n }));
      const own = { keyId: 8n, personId: 1n };
      await subject.store.apply([aHold(1n, 300n, own)]);
      await subject.store.updateKey(8n, { capNanousd: 100n });
      expect(await subject.kinds(aHold(2n, 0n, own), aHold(3n, 1n, own))).toEqual(['held', 'key_cap']);
      await subject.store.updateKey(8n, { capNanousd: null });
      await directory.putMembership({ ...member, capNanousd: 100n }, audit('member.put'));
      expect(await subject.kinds(aHold(4n, 0n, own), aHold(5n, 1n, own))).toEqual(['held', 'person_cap']);
    });

    it('counts every call in one window of its key, even if the window changes meanwhile', async () => {
      await subject.store.apply([aCredit(2n, 1_000n)]);
      await subject.store.updateKey(7n, { capNanousd: null });
      const calls = Array.from({ length: 60 }, async (_, at) => {
        const id = BigInt(100 + at);
        expect(await subject.kinds(aHold(id, 10n, { keyId: 7n }))).toEqual(['held']);
        if (at % 3 > 0) expect(await subject.kinds(aSettle(id, BigInt(at % 3)))).toEqual(['settled']);
      });
      for (let change = 0; change < 60; change++) {
        await subject.store.updateKey(7n, { capWindow: CAP_WINDOWS[change % 4]! });
      }
      await Promise.all(calls);
      const windows = { spentNanousd: 0n, heldNanousd: 0n };
      for (const capWindow of CAP_WINDOWS) {
        await subject.store.updateKey(7n, { capWindow });
        const window = (await subject.store.keyWindow(7n))!;
        windows.spentNanousd += window.spentNanousd;
        windows.heldNanousd += window.heldNanousd;
      }
      expect(windows).toEqual({ spentNanousd: 60n, heldNanousd: 200n });
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('refuses a revoked key and an expired one', async () => {
      await subject.store.createKey(aKey(8n, 1n, { expiresMs: NOON_MS + 1_000 }));
      await subject.store.updateKey(7n, { revokedMs: NOON_MS });
      expect(await subject.kinds(aHold(1n, 1n, { keyId: 7n }), aHold(2n, 1n, { keyId: 8n }))).toEqual([
        'key_inactive',
        'held',
      ]);
      subject.clock.advance(1_000);
      expect(await subject.kinds(aHold(3n, 1n, { keyId: 8n }))).toEqual(['key_inactive']);
    });

    it('lets the balance of an unlimited account fall below zero', async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      expect(await subject.kinds(aHold(1n, 700n, { accountId: 2n }), aSettle(1n, 600n))).toEqual(['held', 'settled']);
      expect(await subject.balance(2n)).toEqual([-600n, 0n, 600n]);
    });

    it('refuses holds whose sums would exceed 64 bits', async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      const near = INT64_MAX - 10n;
      const hold = (id: bigint, amount: bigint) => aHold(id, amount, { accountId: 2n });
      expect(
        await subject.kinds(hold(1n, near), hold(2n, 11n), hold(3n, 10n), aSettle(1n, near), hold(4n, 1n)),
      ).toEqual(['held', 'out_of_range', 'held', 'settled', 'out_of_range']);
      expect((await subject.store.verify()).violations).toEqual([]);
    });
  });

  describe('settle', () => {
    beforeEach(async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 400n)]);
    });

    it('happens once; the first settlement stands', async () => {
      expect(await subject.kinds(aSettle(1n, 150n))).toEqual(['settled']);
      expect(await subject.store.apply([aSettle(1n, 30n)])).toEqual([{ kind: 'settle_repeated', costNanousd: 150n }]);
      expect(await subject.balance()).toEqual([850n, 0n, 150n]);
    });

    it('charges nothing for a hold that was voided', async () => {
      const outcomes = await subject.kinds({ kind: 'void', id: 1n, reason: 'gone' }, aSettle(1n, 150n));
      expect(outcomes).toEqual(['voided', 'settle_found_void']);
      expect(await subject.balance()).toEqual([1_000n, 0n, 0n]);
    });

    it('requires a cost between zero and the hold, with components that add up to it', async () => {
      const components = { freshNanousd: 1n, cacheWriteNanousd: 2n, cacheReadNanousd: 3n, outputNanousd: 4n };
      expect(
        await subject.kinds(
          aSettle(1n, -1n),
          aSettle(1n, 401n),
          aSettle(1n, 2n ** 70n),
          aSettle(1n, 11n, { components }),
          aSettle(1n, 10n, { components: { ...components, freshNanousd: -1n, outputNanousd: 6n } }),
          aSettle(5n, 0n),
        ),
      ).toEqual(['negative', 'exceeds_hold', 'exceeds_hold', 'components_wrong', 'components_wrong', 'no_hold']);
      expect(await subject.kinds(aSettle(1n, 10n, { components }))).toEqual(['settled']);
      expect((await subject.store.findReceipt(1n, 1n))?.components).toEqual(components);
    });

    it('can charge all of the hold or nothing', async () => {
      await subject.store.apply([aHold(2n, 600n), aSettle(1n, 400n), aSettle(2n, 0n)]);
      expect(await subject.balance()).toEqual([600n, 0n, 400n]);
    });
  });

  describe('void', () => {
    it('releases the hold and records the loss, once', async () => {
      await subject.store.apply([aCredit(1n, 1_000n), aHold(1n, 400n)]);
      subject.clock.advance(5_000);
      const operation = { kind: 'void', id: 1n, reason: 'Its owner is gone.' } as const;
      expect(await subject.kinds(operation, operation, { ...operation, id: 9n })).toEqual([
        'voided',
        'void_not_open',
        'void_not_open',
      ]);
      expect(await subject.balance()).toEqual([1_000n, 0n, 0n]);
      expect(await subject.store.findReceipt(1n, 1n)).toMatchObject({
        state: 'voided',
        ended: 'died',
        endedMs: NOON_MS + 5_000,
        httpStatus: null,
        costNanousd: 0n,
        lossNanousd: 400n,
        lossReason: 'Its owner is gone.',
      });
    });
  });

  describe('credit', () => {
    it('credits a reference once, and only with the same amount', async () => {
      expect(await subject.store.apply([aCredit(1n, 500n, { reference: 'r' })])).toEqual([
        { kind: 'credited', balanceNanousd: 500n },
      ]);
      expect(await subject.store.apply([aCredit(2n, 500n, { reference: 'r' })])).toEqual([
        { kind: 'credit_repeated', balanceNanousd: 500n },
      ]);
      await subject.store.createAccount(anAccount(2n));
      expect(
        await subject.kinds(
          aCredit(3n, 501n, { reference: 'r' }),
          aCredit(4n, 501n, { reference: 'r', accountId: 2n }),
        ),
      ).toEqual(['reference_differs', 'credited']);
    });

    it('debits no more than is available', async () => {
      await subject.store.apply([aCredit(1n, 500n), aHold(1n, 200n)]);
      expect(await subject.kinds(aCredit(2n, -301n), aCredit(3n, -300n), aCredit(4n, -1n))).toEqual([
        'exceeds_available',
        'credited',
        'exceeds_available',
      ]);
      expect(await subject.balance()).toEqual([200n, 200n, 0n]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('refuses invalid credits', async () => {
      expect(
        await subject.kinds(
          aCredit(1n, 0n),
          aCredit(2n, 2n ** 64n),
          aCredit(3n, 5n, { accountId: 9n }),
          aCredit(4n, INT64_MAX - 1n),
          aCredit(5n, 2n),
        ),
      ).toEqual(['zero', 'out_of_range', 'no_account', 'credited', 'out_of_range']);
    });
  });
}
