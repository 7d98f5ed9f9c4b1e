import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Batcher, BatcherClosed, BatcherFull } from './batcher.ts';

interface Running {
  readonly ops: readonly string[];
  finish(outs?: (string | Error)[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets all pending callbacks run; the batcher waits for the end of a turn of the event loop. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 6; turns++) await turn();
}

function startBatcher(options: { batchMax?: number; inFlightMax?: number; queueMax?: number } = {}) {
  const started: Running[] = [];
  const batcher = new Batcher<string, string>({
    batchMax: options.batchMax ?? 8,
    inFlightMax: options.inFlightMax ?? 1,
    queueMax: options.queueMax ?? 100,
    urgent: (op) => op.startsWith('!'),
    run: (ops) =>
      new Promise((resolve, reject) => {
        started.push({
          ops,
          finish: (outs = ops.map((op) => `did ${op}`)) => {
            resolve(outs);
            return settle();
          },
          fail: (error) => {
            reject(error);
            return settle();
          },
        });
      }),
  });
  return { batcher, started };
}

describe('Batcher', () => {
  it('sends the operations of one turn as one batch, including those of its ticks and promise callbacks', async () => {
    const { batcher, started } = startBatcher();
    const first = batcher.submit('a');
    const later = Promise.resolve()
      .then(() => undefined)
      .then(() => batcher.submit('b'));
    const muchLater = new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
    const last = muchLater.then(() => batcher.submit('c'));
    await muchLater;
    expect(started).toHaveLength(0);
    await settle();
    expect(started.map(({ ops }) => ops)).toEqual([['a', 'b', 'c']]);
    await started[0]!.finish();
    expect(await Promise.all([first, later, last])).toEqual(['did a', 'did b', 'did c']);
  });

  it('waits while every turn adds operations, but not forever', async () => {
    const { batcher, started } = startBatcher({ batchMax: 100 });
    void batcher.submit('first');
    for (let count = 0; count < 20; count++) {
      void batcher.submit(`op ${count}`);
      await turn();
    }
    expect(started[0]!.ops.length).toBeGreaterThan(3);
    expect(started[0]!.ops.length).toBeLessThan(8);
  });

  it('does not wait after a turn that added no operation', async () => {
    const { batcher, started } = startBatcher();
    void batcher.submit('a');
    await turn();
    await turn();
    expect(started).toHaveLength(1);
  });

  it('includes operations submitted in the turn in which a batch returns', async () => {
    const { batcher, started } = startBatcher();
    const first = batcher.submit('a');
    await settle();
    void batcher.submit('b');
    const answered = started[0]!.finish();
    await first;
    process.nextTick(() => void batcher.submit('c'));
    await answered;
    expect(started[1]!.ops).toEqual(['b', 'c']);
  });

  it('collects the operations submitted while a batch runs', async () => {
    const { batcher, started } = startBatcher();
    void batcher.submit('a');
    await settle();
    for (const op of ['b', 'c']) void batcher.submit(op);
    await settle();
    void batcher.submit('d');
    await settle();
    expect(started).toHaveLength(1);
    expect(batcher.depth).toBe(3);
    await started[0]!.finish();
    expect(started[1]!.ops).toEqual(['b', 'c', 'd']);
  });

  it('respects the limits on batch size and batches in flight', async () => {
    const { batcher, started } = startBatcher({ batchMax: 2, inFlightMax: 2 });
    for (const op of ['a', 'b', 'c', 'd', 'e']) void batcher.submit(op);
    await settle();
    expect(started.map(({ ops }) => ops)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    await started[1]!.finish();
    expect(started[2]!.ops).toEqual(['e']);
  });

  it('puts urgent operations first', async () => {
    const { batcher, started } = startBatcher({ batchMax: 3 });
    for (const op of ['a', 'b', '!c', 'd', '!e']) void batcher.submit(op);
    await settle();
    expect(started[0]!.ops).toEqual(['!c', '!e', 'a']);
    await started[0]!.finish();
    expect(started[1]!.ops).toEqual(['b', 'd']);
  });

  it.each([1, 2, 4, 16])(
    'serves other operations during a flood of urgent ones, in batches of %d',
    async (batchMax) => {
      const { batcher, started } = startBatcher({ batchMax });
      for (const op of ['a', 'b']) void batcher.submit(op);
      for (let count = 0; count < 2 * batchMax; count++) void batcher.submit('!');
      await settle();
      for (let turn = 0; turn < 8; turn++) {
        for (let count = 0; count < batchMax; count++) void batcher.submit('!');
        await started.at(-1)!.finish();
      }
      const served = started.flatMap(({ ops }) => ops);
      expect(served.filter((op) => op !== '!')).toEqual(['a', 'b']);
      expect(served.filter((op) => op === '!').length).toBeGreaterThan(served.length / 2);
    },
  );

  it('rejects only the operations that find the queue full', async () => {
    const { batcher, started } = startBatcher({ batchMax: 1, queueMax: 2 });
    const running = batcher.submit('a');
    await settle();
    const waiting = [batcher.submit('b'), batcher.submit('c')];
    await expect(batcher.submit('d')).rejects.toBeInstanceOf(BatcherFull);
    await started[0]!.finish();
    void batcher.submit('e');
    for (let index = 1; index < 4; index++) await started[index]!.finish();
    expect(await Promise.all([running, ...waiting])).toEqual(['did a', 'did b', 'did c']);
  });

  it('rejects one operation for its own error, and no other', async () => {
    const { batcher, started } = startBatcher();
    const submitted = Promise.allSettled(['a', 'b', 'c'].map((op) => batcher.submit(op)));
    await settle();
    const poison = new Error('poison');
    await started[0]!.finish(['A', poison, 'C']);
    expect(await submitted).toMatchObject([{ value: 'A' }, { reason: poison }, { value: 'C' }]);
  });

  it('rejects a whole batch that failed, and goes on with the next', async () => {
    const { batcher, started } = startBatcher({ batchMax: 2 });
    const submitted = Promise.allSettled(['a', 'b', 'c'].map((op) => batcher.submit(op)));
    await settle();
    const failure = new Error('disk');
    await started[0]!.fail(failure);
    await started[1]!.finish();
    expect(await submitted).toMatchObject([{ reason: failure }, { reason: failure }, { value: 'did c' }]);
  });

  it('rejects a batch whose run throws at once, or answers another number of operations', async () => {
    const outs: (() => Promise<string[]>)[] = [
      () => {
        throw new Error('thrown');
      },
      () => Promise.resolve(['only one']),
      () => Promise.resolve(['A']),
    ];
    const batcher = new Batcher<string, string>({
      batchMax: 2,
      inFlightMax: 1,
      queueMax: 9,
      run: () => outs.shift()!(),
    });
    const settled = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((op) => batcher.submit(op)));
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected', 'fulfilled']);
  });

  it('is idle when nothing waits and nothing runs', async () => {
    const { batcher, started } = startBatcher({ batchMax: 1 });
    await batcher.idle();
    void batcher.submit('a');
    void batcher.submit('b');
    let isIdle = false;
    const idle = batcher.idle().then(() => {
      isIdle = true;
    });
    await settle();
    await started[0]!.finish();
    expect(isIdle).toBe(false);
    await started[1]!.finish();
    expect(isIdle).toBe(true);
    await idle;
  });

  it('refuses operations after closing, and answers earlier ones', async () => {
    const { batcher, started } = startBatcher({ batchMax: 1 });
    const before = [batcher.submit('a'), batcher.submit('b')];
    const closed = batcher.close();
    await expect(batcher.submit('c')).rejects.toBeInstanceOf(BatcherClosed);
    await settle();
    await started[0]!.finish();
    await started[1]!.finish();
    await closed;
    expect(await Promise.all(before)).toEqual(['did a', 'did b']);
  });
});

describe('Batcher, for any traffic', () => {
  const traffic = fc.record({
    batchMax: fc.integer({ min: 1, max: 5 }),
    inFlightMax: fc.integer({ min: 1, max: 3 }),
    ticks: fc.array(fc.array(fc.boolean(), { maxLength: 12 }), { maxLength: 8 }),
    fates: fc.array(fc.constantFrom('answer', 'poison', 'fail'), { minLength: 1, maxLength: 8 }),
  });

  it('answers every operation once, with its own answer, in order within its class', async () => {
    await fc.assert(
      fc.asyncProperty(traffic, async ({ batchMax, inFlightMax, ticks, fates }) => {
        const served: number[] = [];
        const urgent = new Set<number>();
        let inFlight = 0;
        let batches = 0;
        const batcher = new Batcher<number, string>({
          batchMax,
          inFlightMax,
          queueMax: 1000,
          urgent: (op) => urgent.has(op),
          run: async (ops) => {
            const fate = fates[batches++ % fates.length]!;
            expect(ops.length).toBeLessThanOrEqual(batchMax);
            expect(++inFlight).toBeLessThanOrEqual(inFlightMax);
            served.push(...ops);
            await settle();
            inFlight--;
            if (fate === 'fail') throw new Error(`batch with ${ops.join()}`);
            return ops.map((op, index) => (fate === 'poison' && index === 0 ? new Error(`only ${op}`) : `did ${op}`));
          },
        });
        const answers: Promise<string>[] = [];
        for (const tick of ticks) {
          for (const isUrgent of tick) {
            if (isUrgent) urgent.add(answers.length);
            const op = answers.length;
            answers.push(batcher.submit(op).catch((error: Error) => error.message));
          }
          await settle();
        }
        (await Promise.all(answers)).forEach((answer, op) => {
          expect(answer === `did ${op}` || answer === `only ${op}` || /^batch with [\d,]+$/.test(answer)).toBe(true);
          if (answer.startsWith('batch')) expect(answer.slice('batch with '.length).split(',')).toContain(String(op));
        });
        await batcher.idle();
        expect(served.toSorted((left, right) => left - right)).toEqual(answers.map((_, op) => op));
        for (const isUrgent of [true, false]) {
          const ofClass = served.filter((op) => urgent.has(op) === isUrgent);
          expect(ofClass).toEqual(ofClass.toSorted((left, right) => left - right));
        }
      }),
      { numRuns: 300 },
    );
  });
});
