import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMemory, openPostgres, openSqlite, openSqliteInline } from './store-engines.ts';
import type { OpenStore } from './store-fixtures.ts';
import { type AtOnce, anyStep, type Step } from './store-model-steps.ts';
import { partsOf, stateOf, Walker } from './store-walker.ts';

/** The memory driver after these steps, with the result of each. */
async function modelAfter(steps: readonly Step[]): Promise<{ model: Walker; gave: unknown[] }> {
  const model = new Walker();
  await model.begin(openMemory);
  const gave: unknown[] = [];
  for (const step of steps) gave.push(await model.take(step));
  return { model, gave };
}

/**
 * Concurrent steps must equal some sequence: the key changed before or after the batch or, since a batch that cannot be
 * written as a whole is applied in parts, between two of its operations.
 */
async function orderThatExplains(before: readonly Step[], step: AtOnce, found: unknown): Promise<readonly Step[]> {
  const { operations } = step;
  const [, update] = partsOf(step);
  const failures: unknown[] = [];
  for (let place = operations.length; place >= 0; place--) {
    const parts = [operations.slice(0, place), operations.slice(place)] as const;
    const order = [{ step: 'apply', operations: parts[0] }, update, { step: 'apply', operations: parts[1] }] as const;
    const { model, gave } = await modelAfter([...before, ...order]);
    const [first, updated, second] = gave.slice(-3) as [unknown[], unknown, unknown[]];
    const state = await stateOf(model.store, model.clock.nowMs());
    try {
      expect(found).toEqual([[[...first, ...second], updated], state]);
      return order;
    } catch (failure) {
      failures.push(failure);
    }
  }
  throw failures[0];
}

async function walkTogether(open: OpenStore, steps: readonly Step[]): Promise<void> {
  const engine = new Walker();
  let { model } = await modelAfter([]);
  const taken: Step[] = [];
  try {
    await engine.begin(open);
    for (const step of steps) {
      const gave = await engine.take(step);
      const state = await stateOf(engine.store, engine.clock.nowMs());
      if (step.step === 'atOnce') {
        taken.push(...(await orderThatExplains(taken, step, [gave, state])));
        model = (await modelAfter(taken)).model;
      } else {
        taken.push(step);
        expect(gave).toEqual(await model.take(step));
        expect(state).toEqual(await stateOf(model.store, model.clock.nowMs()));
      }
      expect(state).toMatchObject({ report: { violations: [] } });
    }
  } finally {
    await engine.end();
  }
}

const anyWalk = fc.array(anyStep, { minLength: 5, maxLength: 30 });
const RUNS = Number(process.env.TOLLGATE_MODEL_RUNS ?? 50);

describe('the SQLite store and the memory driver', () => {
  it('return the same outcomes and the same state after every random step', async () => {
    const property = fc.asyncProperty(anyWalk, (steps) => walkTogether(openSqliteInline, steps));
    await fc.assert(property, { numRuns: RUNS });
  }, 600_000);

  it('do so across threads', async () => {
    const property = fc.asyncProperty(anyWalk, (steps) => walkTogether(openSqlite, steps));
    await fc.assert(property, { numRuns: 3 });
  });
});

describe('the PostgreSQL store and the memory driver', () => {
  it('return the same outcomes and the same state after every random step', async () => {
    const property = fc.asyncProperty(anyWalk, (steps) => walkTogether(openPostgres, steps));
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 6) });
  }, 600_000);
});
