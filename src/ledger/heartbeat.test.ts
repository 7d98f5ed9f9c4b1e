import { beforeEach, describe, expect, it } from 'vitest';
import { aChunk, aJob, aReserve, LEASE_MS } from '../../test/job-fixtures.ts';
import { aCredit, aHold, aSettle, NOON_MS, prepare } from '../../test/store-fixtures.ts';
import { manyTurns, nextTurn } from '../../test/until.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { Heartbeat, type InstanceEvent } from './heartbeat.ts';
import { type HoldRequest, Ledger, StoreUnavailable } from './ledger.ts';

describe('the heartbeat of a process that shares its store', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let heartbeat: Heartbeat;
  let events: InstanceEvent[];
  /** The store's answers to the next heartbeats; the last one repeats. */
  let answers: (boolean | Error)[];
  let beats: number;
  let lastCallId: bigint;
  let replaced: string | null;
  let reaps: number;
  let stuck: string | null;

  beforeEach(async () => {
    clock = new ManualClock(NOON_MS);
    store = new MemoryStore(clock);
    await prepare(store);
    await store.apply([aCredit(1n, 1_000n)]);
    events = [];
    answers = [true];
    beats = 0;
    lastCallId = 0n;
    replaced = null;
    reaps = 0;
    stuck = null;
    heartbeat = await Heartbeat.begin({
      clock,
      store: {
        beginInstance: async () => ({ ...(await store.beginInstance()), replaced }),
        heartbeat: async (epoch) => {
          beats += 1;
          if ((await store.heartbeat(epoch)) === null) return null;
          const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
          if (answer instanceof Error) throw answer;
          return answer ? { lastCallId } : null;
        },
        reap: async () => {
          reaps += 1;
          return { voided: 0, stuck };
        },
      },
      onEvent: (event) => events.push(event),
    });
  });

  /** Lets this many heartbeats fall due, each with time for its answer. */
  async function pass(count: number): Promise<void> {
    for (let beat = 0; beat < count; beat++) {
      clock.advance(LIMITS.instanceHeartbeatMs);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  }

  function request(id: bigint): HoldRequest {
    const { kind: _kind, epoch: _epoch, createdMs: _createdMs, ...rest } = aHold(id, 100n);
    return rest;
  }

  it('is sent every second, and voids the holds of dead instances each time it succeeds', async () => {
    await pass(4);
    expect([beats, reaps, events]).toEqual([4, 4, []]);
    expect(heartbeat.whyNotAdmitting).toBeNull();
  });

  it('reports once why holds cannot be voided, and again when the reason changes', async () => {
    stuck = 'one hold is stuck';
    await pass(3);
    stuck = null;
    await pass(1);
    stuck = 'two holds are stuck';
    await pass(2);
    expect(events).toEqual([
      { kind: 'stuck', reason: 'one hold is stuck' },
      { kind: 'stuck', reason: 'two holds are stuck' },
    ]);
  });

  it('registers again under a new epoch if another instance replaced it', async () => {
    const { epoch } = await store.beginInstance();
    await pass(1);
    expect([heartbeat.epoch, events.map((event) => event.kind)]).toEqual([epoch + 1n, ['reregistered']]);
    const ledger = new Ledger({ store, clock, epoch: heartbeat.epoch, instance: heartbeat });
    expect(await ledger.hold(request(1n))).toEqual({ kind: 'held' });
  });

  it('stops admission when heartbeats fail for too long, and resumes it with the next one that succeeds', async () => {
    answers = [new StoreUnavailable('away')];
    await pass(LIMITS.instanceSilentMs / LIMITS.instanceHeartbeatMs);
    expect(heartbeat.whyNotAdmitting).toBeNull();
    await pass(1);
    expect(LIMITS.instanceSilentMs + LIMITS.instanceHeartbeatMs).toBeLessThan(LIMITS.instanceDeadMs);
    expect(heartbeat.whyNotAdmitting).toContain('heartbeat');
    const ledger = new Ledger({ store, clock, epoch: heartbeat.epoch, instance: heartbeat });
    await expect(ledger.hold(request(1n))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(reaps).toBe(0);
    answers = [true];
    await pass(1);
    expect(heartbeat.whyNotAdmitting).toBeNull();
    expect(await ledger.hold(request(1n))).toEqual({ kind: 'held' });
    expect(events.map((event) => event.kind)).toEqual(['failed', 'failed', 'failed', 'failed']);
  });

  describe('that stops admission before a hold is confirmed', () => {
    const idempotency = { key: 'order-1', bodySha256: Buffer.alloc(32) };
    let ledger: Ledger;
    let confirm: () => void;

    beforeEach(() => {
      const confirmed = Promise.withResolvers<void>();
      confirm = confirmed.resolve;
      const late = Object.assign(Object.create(store), {
        apply: async (operations: Parameters<MemoryStore['apply']>[0]) => {
          const outcomes = await store.apply(operations);
          if (operations.some(({ kind }) => kind === 'hold')) await confirmed.promise;
          return outcomes;
        },
      });
      ledger = new Ledger({ store: late, clock, epoch: heartbeat.epoch, instance: heartbeat });
    });

    async function confirmTooLate(): Promise<void> {
      await nextTurn();
      answers = [new StoreUnavailable('away')];
      await pass(LIMITS.instanceSilentMs / LIMITS.instanceHeartbeatMs + 1);
      confirm();
      await nextTurn();
      answers = [true];
      await pass(1);
    }

    it('gives the hold back without a loss, because no host is called, and frees its idempotency key', async () => {
      const held = ledger.hold({ ...request(1n), idempotency });
      const late = confirmTooLate();
      await expect(held).rejects.toBeInstanceOf(StoreUnavailable);
      await late;
      const ended = { state: 'settled', ended: 'failed', httpStatus: 503, costNanousd: 0n, lossNanousd: 0n };
      expect(await store.findReceipt(1n, 1n)).toMatchObject(ended);
      expect(await ledger.hold({ ...request(2n), idempotency })).toEqual({ kind: 'held' });
      expect(ledger.openHolds).toBe(1);
    });

    it('returns a job that the hold started to the queue', async () => {
      await store.jobs.stage([aJob(5n, 100n)], [aChunk(5n)]);
      await store.apply([aReserve(5n, 100n)]);
      await store.jobs.claim(1n, clock.nowMs(), LEASE_MS, 1);
      const started = ledger.start({ ...request(6n), job: { id: 5n, claim: 1 } });
      const late = confirmTooLate();
      await expect(started).rejects.toBeInstanceOf(StoreUnavailable);
      await late;
      expect(await store.jobs.find(5n, 1n)).toMatchObject({ state: 'queued', errorCode: 'store_unavailable' });
      expect(await store.findAccount(1n)).toMatchObject({ heldNanousd: 0n, reservedNanousd: 100n });
    });

    it('voids the hold if it cannot be given back', async () => {
      const apply = store.apply.bind(store);
      store.apply = async (operations) =>
        operations.some(({ kind }) => kind === 'settle') ? Promise.reject(new Error('away')) : apply(operations);
      const held = ledger.hold(request(1n));
      const late = confirmTooLate();
      await expect(held).rejects.toBeInstanceOf(StoreUnavailable);
      await late;
      await manyTurns();
      expect(await store.findReceipt(1n, 1n)).toMatchObject({ state: 'voided', costNanousd: 0n });
      expect(ledger.openHolds).toBe(0);
    });
  });

  it('registers again under a new epoch and number after it was declared dead, and charges nothing for earlier calls', async () => {
    const ledger = new Ledger({ store, clock, epoch: heartbeat.epoch, instance: heartbeat });
    await ledger.hold(request(1n));
    const [epoch, id] = [heartbeat.epoch, heartbeat.ids.next()];
    answers = [false, true];
    await pass(1);
    expect(heartbeat.epoch).toBe(epoch + 1n);
    expect(events).toEqual([{ kind: 'reregistered', instance: heartbeat.instance }]);
    expect((heartbeat.ids.next() >> 12n) & 1023n).toBe(BigInt(heartbeat.instance.number));
    expect((id >> 12n) & 1023n).not.toBe(BigInt(heartbeat.instance.number));
    expect((await ledger.settle(1n, aSettle(1n, 50n).settlement)).kind).toBe('found_void');
    expect(await ledger.hold(request(2n))).toEqual({ kind: 'held' });
  });

  it('makes ids above the part of the ledger that another process has closed', async () => {
    lastCallId = heartbeat.ids.next() + (10_000n << 22n);
    expect(heartbeat.ids.next()).toBeLessThan(lastCallId);
    await pass(1);
    expect(heartbeat.ids.next()).toBeGreaterThan(lastCallId);
  });

  it('reports that the store was put back to an older state', async () => {
    answers = [false, true];
    replaced = 'Commits are missing.';
    await pass(1);
    expect(events).toEqual([{ kind: 'replaced', reason: replaced, instance: heartbeat.instance }]);
  });
});
