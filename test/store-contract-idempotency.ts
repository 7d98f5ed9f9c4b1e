import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { ZERO_USAGE } from '../src/canonical/usage.ts';
import { LIMITS } from '../src/limits.ts';
import type { HoldOperation, LedgerOperation } from '../src/store/store.ts';
import { aCredit, aHold, aKey, anAccount, aSettle, NOON_MS } from './store-fixtures.ts';
import type { StoreSubject } from './store-subject.ts';

const ANSWER = Uint8Array.of(1, 0, 255);

/** A hold with the key `k` for the body `b`, unless given otherwise. */
function keyedHold(id: bigint, over: Partial<HoldOperation> & { key?: string; body?: string } = {}): HoldOperation {
  const { key = 'k', body = 'b', ...rest } = over;
  return aHold(id, 100n, { idempotency: { key, bodySha256: createHash('sha256').update(body).digest() }, ...rest });
}

/** Calls that the caller declares to be the same. */
export function idempotencyContract(subject: StoreSubject): void {
  describe('idempotency keys', () => {
    beforeEach(async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
    });

    /** The outcomes of one batch: a repeat with its state, call and stored response, anything else as one word. */
    async function told(...operations: LedgerOperation[]): Promise<unknown[]> {
      const outcomes = await subject.store.apply(operations);
      return outcomes.map((outcome) => {
        if (outcome.kind !== 'idempotent') return 'reason' in outcome ? outcome.reason : outcome.kind;
        return [outcome.state, outcome.callId, outcome.kept === null ? null : [...outcome.kept]];
      });
    }

    it('admit one call, and report to the others that it is running', async () => {
      expect(await told(keyedHold(1n), keyedHold(2n), keyedHold(3n, { key: 'other' }))).toEqual([
        'held',
        ['running', 1n, null],
        'held',
      ]);
      expect(await told(keyedHold(4n))).toEqual([['running', 1n, null]]);
      expect(await subject.balance()).toEqual([1_000n, 200n, 0n]);
      expect((await subject.store.findReceipt(1n, 1n))?.idempotencyKey).toBe('k');
      expect(await subject.store.findReceipt(2n, 1n)).toBeNull();
    });

    it('replay the stored response, or report that the call finished', async () => {
      await told(keyedHold(1n), keyedHold(2n, { key: 'fact' }));
      expect(await told(aSettle(1n, 10n, {}, ANSWER), aSettle(2n, 10n), keyedHold(3n))).toEqual([
        'settled',
        'settled',
        ['finished', 1n, [...ANSWER]],
      ]);
      await subject.reopen();
      expect(await told(keyedHold(4n), keyedHold(5n, { key: 'fact' }))).toEqual([
        ['finished', 1n, [...ANSWER]],
        ['finished', 2n, null],
      ]);
      expect(await subject.balance()).toEqual([980n, 0n, 20n]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('belong to one body', async () => {
      expect(await told(keyedHold(1n), keyedHold(2n, { body: 'other' }))).toEqual(['held', ['mismatch', 1n, null]]);
      await told(aSettle(1n, 10n, {}, ANSWER));
      expect(await told(keyedHold(3n, { body: 'other' }))).toEqual([['mismatch', 1n, null]]);
    });

    it('belong to one account', async () => {
      await subject.store.createAccount(anAccount(2n, { kind: 'unlimited' }));
      await subject.store.createKey(aKey(7n, 1n));
      expect(
        await told(keyedHold(1n), keyedHold(2n, { accountId: 2n, body: 'other' }), keyedHold(3n, { keyId: 7n })),
      ).toEqual(['held', 'held', ['running', 1n, null]]);
    });

    it('are free again after a refused hold', async () => {
      expect(
        await told(
          keyedHold(1n, { amountNanousd: 1_001n }),
          keyedHold(2n, { ceilingNanousd: 1n }),
          keyedHold(3n, { priceId: 99 }),
          keyedHold(4n, { body: 'other' }),
        ),
      ).toEqual(['balance', 'cost_ceiling', 'operation_failed', 'held']);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('are checked before ceiling and balance, and after an inactive API key', async () => {
      await told(keyedHold(1n), aHold(2n, 900n), aSettle(1n, 100n, {}, ANSWER));
      expect(
        await told(
          keyedHold(3n, { ceilingNanousd: 1n }),
          keyedHold(4n),
          keyedHold(5n, { keyId: 9n }),
          keyedHold(6n, { key: 'new' }),
        ),
      ).toEqual([['finished', 1n, [...ANSWER]], ['finished', 1n, [...ANSWER]], 'key_inactive', 'balance']);
    });

    it('are free again only if a call had no response and no cost', async () => {
      const failed = { ended: 'failed', httpStatus: 502 } as const;
      await told(keyedHold(1n), keyedHold(2n, { key: 'free' }), keyedHold(3n, { key: 'cost' }));
      await told(aSettle(1n, 0n, failed), aSettle(2n, 0n), aSettle(3n, 1n, { ended: 'client_gone' }));
      expect(await told(keyedHold(4n), keyedHold(5n, { key: 'free' }), keyedHold(6n, { key: 'cost' }))).toEqual([
        'held',
        ['finished', 2n, null],
        ['finished', 3n, null],
      ]);
      await told(aSettle(4n, 0n, { ended: 'client_gone' }, ANSWER));
      expect(await told(keyedHold(7n))).toEqual([['finished', 4n, [...ANSWER]]]);
      await told(keyedHold(8n, { key: 'elsewhere' }), aSettle(8n, 0n, { ended: 'client_gone', usage: ZERO_USAGE }));
      expect(await told(keyedHold(9n, { key: 'elsewhere' }))).toEqual([['finished', 8n, null]]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('keep the first settlement', async () => {
      await told(keyedHold(1n));
      await told(aSettle(1n, 10n, {}, ANSWER));
      await told(aSettle(1n, 0n, { ended: 'failed' }), aSettle(1n, 10n, {}, Uint8Array.of(9)));
      expect(await told(keyedHold(2n))).toEqual([['finished', 1n, [...ANSWER]]]);
    });

    it('report an unknown outcome once their call was voided', async () => {
      await told(keyedHold(1n), keyedHold(2n, { key: 'told' }), { kind: 'void', id: 2n, reason: 'told to' });
      await told(aSettle(2n, 10n, {}, ANSWER));
      await subject.reopen();
      const { epoch } = await subject.store.beginInstance();
      expect(
        await told(keyedHold(3n, { epoch }), keyedHold(4n, { epoch, key: 'told' }), keyedHold(5n, { epoch, key: 'x' })),
      ).toEqual([['unknown', 1n, null], ['unknown', 2n, null], 'held']);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('are free when they expire, unless their call is still running', async () => {
      await told(keyedHold(1n), keyedHold(2n, { key: 'open' }), keyedHold(3n, { key: 'void' }));
      await told(aSettle(1n, 10n, {}, ANSWER), { kind: 'void', id: 3n, reason: 'told to' });
      subject.clock.setNowMs(NOON_MS + LIMITS.idempotencyKeyMs - 1);
      expect(await told(keyedHold(4n), keyedHold(4n, { key: 'void' }))).toEqual([
        ['finished', 1n, [...ANSWER]],
        ['unknown', 3n, null],
      ]);
      expect(await subject.store.sweepIdempotencyKeys()).toBe(0);
      subject.clock.setNowMs(NOON_MS + LIMITS.idempotencyKeyMs);
      expect(await told(keyedHold(5n, { body: 'other' }), keyedHold(6n, { key: 'open' }))).toEqual([
        'held',
        ['running', 2n, null],
      ]);
      expect(await subject.store.sweepIdempotencyKeys()).toBe(1);
      expect(await subject.store.sweepIdempotencyKeys()).toBe(0);
      expect(await told(keyedHold(7n, { key: 'void' }), keyedHold(8n))).toEqual(['held', ['mismatch', 5n, null]]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });

    it('outlive a deleted receipt', async () => {
      await told(keyedHold(1n), aSettle(1n, 10n, {}, ANSWER));
      subject.clock.advance(LIMITS.closingAgeMs);
      expect(await subject.store.closeBooks(NOON_MS + 1)).toEqual({ closed: 1, forgotten: 1 });
      expect(await told(keyedHold(2n))).toEqual([['finished', 1n, [...ANSWER]]]);
      expect((await subject.store.verify()).violations).toEqual([]);
    });
  });
}
