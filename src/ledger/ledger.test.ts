import { beforeEach, describe, expect, it } from 'vitest';
import { aCredit, aHold, aKey, aSettle, NOON_MS, prepare } from '../../test/store-fixtures.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import type { LedgerOperation, Store } from '../store/store.ts';
import { type HoldRequest, Ledger, StoreUnavailable } from './ledger.ts';
import { LedgerDefect } from './ledger-results.ts';

describe('the ledger', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let ledger: Ledger;
  /** The operations of each commit. */
  let batches: string[][];

  beforeEach(async () => {
    clock = new ManualClock(NOON_MS);
    store = new MemoryStore(clock);
    batches = [];
    await prepare(store);
    ledger = ledgerOver({});
    await ledger.credit(aCredit(1n, 1_000n));
  });

  /** The memory store with some methods replaced. */
  function ledgerOver(over: Partial<Store>): Ledger {
    const watched: Store = Object.assign(Object.create(store), {
      apply: (operations: readonly LedgerOperation[]) => {
        batches.push(operations.map((operation) => `${operation.kind} ${operation.id}`));
        return store.apply(operations);
      },
      ...bound(store),
      ...over,
    });
    return new Ledger({ store: watched, clock, epoch: 1n });
  }

  function bound(target: MemoryStore): Partial<Store> {
    return {
      findAccount: (id) => target.findAccount(id),
      keyWindow: (id) => target.keyWindow(id),
      health: () => target.health(),
      verify: () => target.verify(),
    };
  }

  function request(id: bigint, amountNanousd: bigint, over: Partial<HoldRequest> = {}): HoldRequest {
    const { kind: _kind, epoch: _epoch, createdMs: _createdMs, ...rest } = aHold(id, amountNanousd);
    return { ...rest, ...over };
  }

  const settlement = (costNanousd: bigint) => aSettle(1n, costNanousd).settlement;

  it('holds, settles and stamps both with its clock', async () => {
    expect(await ledger.hold(request(1n, 400n))).toEqual({ kind: 'held' });
    clock.advance(250);
    expect(await ledger.settle(1n, settlement(150n))).toEqual({ kind: 'settled', settlement: settlement(150n) });
    const receipt = await store.findReceipt(1n, 1n);
    expect(receipt).toMatchObject({ createdMs: NOON_MS, endedMs: NOON_MS + 250, costNanousd: 150n });
    expect(ledger.openHolds).toBe(0);
  });

  it('returns refusals as results', async () => {
    const refused = { kind: 'hold_refused', reason: 'balance', availableNanousd: 1_000n };
    expect(await ledger.hold(request(1n, 1_001n))).toEqual(refused);
    expect(ledger.openHolds).toBe(0);
  });

  it('refuses an amount beyond 64 bits without asking the store', async () => {
    batches = [];
    expect(await ledger.hold(request(1n, 2n ** 63n))).toMatchObject({ reason: 'out_of_range' });
    expect(batches).toEqual([]);
  });

  it('puts simultaneous operations into one batch, settlements first', async () => {
    await Promise.all([ledger.hold(request(1n, 10n)), ledger.hold(request(2n, 10n))]);
    batches = [];
    await Promise.all([
      ledger.hold(request(3n, 10n)),
      ledger.settle(1n, settlement(5n)),
      ledger.hold(request(4n, 10n)),
      ledger.release(2n, { ended: 'failed', httpStatus: 502 }),
    ]);
    expect(batches).toEqual([['settle 1', 'settle 2', 'hold 3', 'hold 4']]);
  });

  it('releases the whole hold and stores how the call ended', async () => {
    await ledger.hold(request(1n, 400n));
    await ledger.release(1n, {
      ended: 'timeout',
      httpStatus: 504,
      host: 'h',
      attempts: 2,
      lossNanousd: 7n,
      lossReason: 'x',
    });
    expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 1_000n, heldNanousd: 0n, spentNanousd: 0n });
    expect(await store.findReceipt(1n, 1n)).toMatchObject({
      ended: 'timeout',
      attempts: 2,
      lossNanousd: 7n,
      costNanousd: 0n,
    });
  });

  it('reports no charge if the hold had been voided', async () => {
    await ledger.hold(request(1n, 400n));
    await store.apply([{ kind: 'void', id: 1n, reason: 'reaped' }]);
    const result = await ledger.settle(1n, settlement(150n));
    expect(result).toMatchObject({
      kind: 'found_void',
      settlement: { costNanousd: 0n, components: null, usage: null, lossNanousd: 400n, lossReason: 'hold_voided' },
    });
  });

  it('refuses a cost outside the hold', async () => {
    await ledger.hold(request(1n, 400n));
    batches = [];
    await expect(ledger.settle(2n, settlement(0n))).rejects.toThrow(LedgerDefect);
    expect(batches).toEqual([]);
    await ledger.settle(1n, settlement(400n));
    await expect(ledger.settle(1n, settlement(400n))).rejects.toThrow(LedgerDefect);
    expect(ledger.openHolds).toBe(0);
  });

  it.each([401n, -1n])('voids a hold whose cost of %s is outside it', async (cost) => {
    await ledger.hold(request(1n, 400n));
    await expect(ledger.settle(1n, settlement(cost))).rejects.toThrow(LedgerDefect);
    await ledger.close();
    expect(ledger.openHolds).toBe(0);
    expect(await store.findReceipt(1n, 1n)).toMatchObject({ state: 'voided', costNanousd: 0n, lossNanousd: 400n });
  });

  it('voids a hold whose settlement the store cannot write', async () => {
    const broken = ledgerOver({
      apply: async (operations) => {
        const isSettle = operations.some(({ kind }) => kind === 'settle');
        return isSettle ? [{ kind: 'operation_failed', message: 'no' }] : store.apply(operations);
      },
    });
    await broken.hold(request(1n, 400n));
    await expect(broken.settle(1n, settlement(1n), { waitUntilMs: 60_000 })).rejects.toThrow(LedgerDefect);
    await broken.close();
    expect((await store.findReceipt(1n, 1n))?.state).toBe('voided');
  });

  it('voids each hold once when the settlements of one commit fail together', async () => {
    const voided: bigint[] = [];
    const broken = ledgerOver({
      apply: async (operations) => {
        if (operations.some(({ kind }) => kind === 'settle')) throw new Error('away');
        for (const { kind, id } of operations) if (kind === 'void') voided.push(id);
        return store.apply(operations);
      },
    });
    const ids = Array.from({ length: 50 }, (_, index) => BigInt(index + 1));
    await Promise.all(ids.map((id) => broken.hold(request(id, 1n))));
    await Promise.allSettled(ids.map((id) => broken.settle(id, settlement(1n))));
    await broken.close();
    expect(voided).toEqual(ids);
    expect(broken.openHolds).toBe(0);
  });

  it('passes the stored response on with the settlement', async () => {
    const idempotency = { key: 'k', bodySha256: new Uint8Array(32) };
    await ledger.hold(request(1n, 400n, { idempotency }));
    expect(await ledger.hold(request(2n, 400n, { idempotency }))).toMatchObject({ state: 'running', callId: 1n });
    await ledger.settle(1n, settlement(1n), { kept: Uint8Array.of(7) });
    expect(await ledger.hold(request(2n, 400n, { idempotency }))).toMatchObject({ kept: Uint8Array.of(7) });
    expect(ledger.openHolds).toBe(0);
  });

  it('finds the call that has an idempotency key without holding money', async () => {
    const idempotency = { key: 'k', bodySha256: new Uint8Array(32) };
    const ask = { id: 9n, accountId: 1n, keyId: null, idempotency };
    expect(await ledger.findRepeat(ask)).toBeNull();
    await ledger.hold(request(1n, 1_000n, { idempotency }));
    expect(await ledger.findRepeat(ask)).toMatchObject({ state: 'running', callId: 1n });
    expect([ledger.openHolds, await store.findReceipt(9n, null)]).toEqual([1, null]);
  });

  it('throws a defect for a failed operation', async () => {
    await ledger.hold(request(1n, 400n));
    await expect(ledger.hold(request(1n, 1n))).rejects.toThrow(/already in use/);
    await expect(ledger.credit({ ...aCredit(1n, 5n), reference: 'other' })).rejects.toThrow(LedgerDefect);
  });

  describe('when the store is unavailable', () => {
    let isAway: boolean;
    let shaky: Ledger;
    /** The store applied it, but its reply was lost. */
    let isMute: boolean;

    beforeEach(async () => {
      [isAway, isMute] = [false, false];
      shaky = ledgerOver({
        apply: async (operations) => {
          if (isAway) throw new Error('away');
          const outcomes = await store.apply(operations);
          if (isMute) throw new Error('the line broke');
          return outcomes;
        },
      });
      await shaky.hold(request(3n, 100n));
    });

    const turns = async (count = 20) => {
      for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const waitUntilMs = 60_000;

    it('refuses holds', async () => {
      isAway = true;
      await expect(shaky.hold(request(2n, 1n))).rejects.toThrow(StoreUnavailable);
      expect(shaky.openHolds).toBe(1);
    });

    it('retries a settlement until the store is available again', async () => {
      isAway = true;
      const settled = shaky.settle(3n, settlement(40n), { waitUntilMs });
      for (let tries = 0; tries < 5; tries++) {
        await turns();
        clock.advance(LIMITS.settleRetryMs);
      }
      isAway = false;
      await turns();
      clock.advance(LIMITS.settleRetryMs);
      expect(await settled).toEqual({ kind: 'settled', settlement: settlement(40n) });
      expect(await store.findReceipt(3n, 1n)).toMatchObject({ endedMs: NOON_MS, costNanousd: 40n });
      expect([shaky.openHolds, clock.pendingTimers]).toEqual([0, 0]);
    });

    it('asks the store again instead of guessing an unknown outcome', async () => {
      isMute = true;
      const settled = shaky.settle(3n, settlement(40n), { waitUntilMs });
      await turns();
      isMute = false;
      clock.advance(LIMITS.settleRetryMs);
      expect((await settled).kind).toBe('settled');
      expect(await store.findAccount(1n)).toMatchObject({ balanceNanousd: 960n, heldNanousd: 0n, spentNanousd: 40n });
    });

    it('reports no charge if the hold was voided while the store was unavailable', async () => {
      isAway = true;
      const settled = shaky.settle(3n, settlement(40n), { waitUntilMs });
      await store.apply([{ kind: 'void', id: 3n, reason: 'reaped' }]);
      await turns();
      isAway = false;
      clock.advance(LIMITS.settleRetryMs);
      expect((await settled).kind).toBe('found_void');
    });

    it('gives up at the time limit of the call, and voids the hold later', async () => {
      await shaky.watchHealth();
      isAway = true;
      const settled = shaky.settle(3n, settlement(40n), { waitUntilMs: 2 * LIMITS.settleRetryMs });
      settled.catch(() => undefined);
      for (let tries = 0; tries < 3; tries++) {
        await turns();
        clock.advance(LIMITS.settleRetryMs);
      }
      await expect(settled).rejects.toThrow(StoreUnavailable);
      expect(shaky.openHolds).toBe(1);
      isAway = false;
      clock.advance(LIMITS.storeHealthMs);
      await turns();
      expect(shaky.openHolds).toBe(0);
      expect(await store.findReceipt(3n, 1n)).toMatchObject({ state: 'voided', costNanousd: 0n, lossNanousd: 100n });
      await shaky.close();
    });

    it('does not wait when the process is about to exit', async () => {
      isAway = true;
      const settled = shaky.settle(3n, settlement(40n), { waitUntilMs });
      settled.catch(() => undefined);
      await turns();
      shaky.stopRetrying();
      await expect(settled).rejects.toThrow(StoreUnavailable);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  it('refuses new holds when too many operations are waiting, but still settles', async () => {
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const slow = ledgerOver({ apply: (operations) => gate.then(() => store.apply(operations)) });
    const first = slow.hold(request(1n, 0n));
    await new Promise((resolve) => setImmediate(resolve));
    const rest = Array.from({ length: LIMITS.ledgerHoldQueueMax }, (_, index) =>
      slow.hold(request(BigInt(index + 2), 0n)),
    );
    expect(slow.depth).toBe(LIMITS.ledgerHoldQueueMax);
    await expect(slow.hold(request(0n, 0n))).rejects.toThrow(StoreUnavailable);
    const credited = slow.credit(aCredit(2n, 5n));
    letGo();
    expect((await credited).kind).toBe('credited');
    await first;
    await Promise.all(rest);
  });

  it('reports no trouble and checks no more if it is closed during a check of the health', async () => {
    const { promise, resolve } = Promise.withResolvers<{ ok: boolean; reason: string; mayAdmit: boolean }>();
    const troubles: unknown[] = [];
    const store = { ...bound(new MemoryStore(clock)), health: () => promise } as Partial<Store> as Store;
    const closing = new Ledger({ store, clock, epoch: 1n, onTrouble: (...trouble) => void troubles.push(trouble) });
    const checked = closing.watchHealth();
    await closing.close();
    resolve({ ok: false, reason: 'The store is closed.', mayAdmit: false });
    await checked;
    expect([troubles, clock.pendingTimers]).toEqual([[], 0]);
  });

  it('stops admission when the store says so, and continues to settle', async () => {
    let mayAdmit = true;
    const health = async () => ({ ok: true, reason: 'The disk is nearly full.', mayAdmit });
    const careful = ledgerOver({ health });
    await careful.watchHealth();
    await careful.hold(request(1n, 10n));
    mayAdmit = false;
    clock.advance(LIMITS.storeHealthMs);
    await new Promise((resolve) => setImmediate(resolve));
    await expect(careful.hold(request(2n, 10n))).rejects.toThrow('nearly full');
    expect((await careful.settle(1n, settlement(10n))).kind).toBe('settled');
    mayAdmit = true;
    clock.advance(LIMITS.storeHealthMs);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await careful.hold(request(2n, 10n))).kind).toBe('held');
    await careful.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('returns the balance of an account and the window of its key', async () => {
    await store.createKey(aKey(7n, 1n, { capWindow: 'day' }));
    await ledger.hold(request(1n, 400n, { keyId: 7n }));
    expect(await ledger.balance(1n, { id: 7n, personId: null })).toMatchObject({
      account: { balanceNanousd: 1_000n, heldNanousd: 400n },
      keyWindow: { window: 'day', heldNanousd: 400n },
    });
    expect((await ledger.balance(1n, null))?.keyWindow).toBeNull();
    expect(await ledger.balance(9n, null)).toBeNull();
  });
});
