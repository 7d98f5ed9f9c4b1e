import { beforeEach, describe, expect, it } from 'vitest';
import { aCredit, aHold, aSettle, NOON_MS, prepare } from '../../test/store-fixtures.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { type HoldRequest, Ledger, StoreUnavailable } from './ledger.ts';
import { Life, type LifeEvent } from './life.ts';

describe('a life among others', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let life: Life;
  let events: LifeEvent[];
  /** What the store says to the next beats; the last answer goes on. */
  let answers: (boolean | Error)[];
  let beats: number;
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
    reaps = 0;
    stuck = null;
    life = await Life.begin({
      clock,
      store: {
        beginInstance: () => store.beginInstance(),
        beat: async (epoch) => {
          beats += 1;
          if (!(await store.beat(epoch))) return false;
          const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
          if (answer instanceof Error) throw answer;
          return answer;
        },
        reap: async () => {
          reaps += 1;
          return { voided: 0, stuck };
        },
      },
      onEvent: (event) => events.push(event),
    });
  });

  /** Lets so many beats fall due, each with time for its answer. */
  async function pass(count: number): Promise<void> {
    for (let beat = 0; beat < count; beat++) {
      clock.advance(LIMITS.instanceBeatMs);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  }

  function request(id: bigint): HoldRequest {
    const { kind: _kind, epoch: _epoch, createdMs: _createdMs, ...rest } = aHold(id, 100n);
    return rest;
  }

  it('is told every second, and clears up after others each time it was heard', async () => {
    await pass(4);
    expect([beats, reaps, events]).toEqual([4, 4, []]);
    expect(life.whyNotAdmitting).toBeNull();
  });

  it('tells once what it cannot clear up, and again once the reason is another', async () => {
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

  it('goes on under a new epoch although a life was begun behind its back', async () => {
    const { epoch } = await store.beginInstance();
    await pass(1);
    expect([life.epoch, events.map((event) => event.kind)]).toEqual([epoch + 1n, ['reborn']]);
    const ledger = new Ledger({ store, clock, epoch: life.epoch, life });
    expect(await ledger.hold(request(1n))).toEqual({ kind: 'held' });
  });

  it('admits nobody once it was not heard in time, and again as soon as it is', async () => {
    answers = [new StoreUnavailable('away')];
    await pass(LIMITS.instanceSilentMs / LIMITS.instanceBeatMs);
    expect(life.whyNotAdmitting).toBeNull();
    await pass(1);
    expect(LIMITS.instanceSilentMs + LIMITS.instanceBeatMs).toBeLessThan(LIMITS.instanceDeadMs);
    expect(life.whyNotAdmitting).toContain('could not tell');
    const ledger = new Ledger({ store, clock, epoch: life.epoch, life });
    await expect(ledger.hold(request(1n))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(reaps).toBe(0);
    answers = [true];
    await pass(1);
    expect(life.whyNotAdmitting).toBeNull();
    expect(await ledger.hold(request(1n))).toEqual({ kind: 'held' });
    expect(events.map((event) => event.kind)).toEqual(['failed', 'failed', 'failed', 'failed']);
  });

  it('goes on under a new epoch and number when it was taken for dead, and charges nothing for the calls before', async () => {
    const ledger = new Ledger({ store, clock, epoch: life.epoch, life });
    await ledger.hold(request(1n));
    const [epoch, id] = [life.epoch, life.ids.next()];
    answers = [false, true];
    await pass(1);
    expect(life.epoch).toBe(epoch + 1n);
    expect(events).toEqual([{ kind: 'reborn', instance: life.instance }]);
    expect((life.ids.next() >> 12n) & 1023n).toBe(BigInt(life.instance.number));
    expect((id >> 12n) & 1023n).not.toBe(BigInt(life.instance.number));
    expect((await ledger.settle(1n, aSettle(1n, 50n).settlement)).kind).toBe('found_void');
    expect(await ledger.hold(request(2n))).toEqual({ kind: 'held' });
  });

  it('lets no call go to a host on a hold that came too late', async () => {
    let proceed: () => void = () => undefined;
    const slow = Object.assign(Object.create(store), {
      apply: async (operations: Parameters<MemoryStore['apply']>[0]) => {
        if (operations.every(({ kind }) => kind !== 'hold')) return store.apply(operations);
        const outcomes = await store.apply(operations);
        await new Promise<void>((resolve) => {
          proceed = resolve;
        });
        return outcomes;
      },
    });
    const ledger = new Ledger({ store: slow, clock, epoch: life.epoch, life });
    const hold = ledger.hold(request(1n));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    answers = [new StoreUnavailable('away')];
    await pass(5);
    proceed();
    await expect(hold).rejects.toBeInstanceOf(StoreUnavailable);
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    expect(await store.findReceipt(1n, 1n)).toMatchObject({ state: 'voided' });
  });
});
