import { describe, expect, test } from 'vitest';
import type { CatalogModel } from '../catalog/model.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { TokenOverrun } from '../store/token-overruns.ts';
import { LearnedFactors, neededFactor, type OverrunStore, raisedFactors } from './token-factors.ts';

const MODEL = { id: 'ferry', tokenizer: null, tokenFactor: { factor: 1.5, source: 'test' } } as unknown as CatalogModel;

function overrun(accountId: bigint, factor: number, model = 'ferry'): TokenOverrun {
  return { model, accountId, factor, notedMs: 0 };
}

/** Keeps every overrun, as a store would keep one per account. */
function fakeStore(rows: TokenOverrun[]): OverrunStore {
  return {
    noteTokenOverrun: async (noted) => void rows.push(noted),
    listTokenOverruns: async () => rows,
  };
}

describe('a factor', () => {
  test('becomes what three accounts have needed, however much fewer of them needed', () => {
    expect(raisedFactors([overrun(1n, 8), overrun(2n, 8)])).toEqual(new Map());
    expect(raisedFactors([overrun(1n, 8), overrun(2n, 1.7), overrun(3n, 2)])).toEqual(new Map([['ferry', 1.7]]));
    const four = [overrun(1n, 8), overrun(2n, 1.7), overrun(3n, 2), overrun(4n, 1.9)];
    expect(raisedFactors([...four, overrun(5n, 9, 'raft')])).toEqual(new Map([['ferry', 1.9]]));
  });

  test('is raised for everyone by the overrun of the third account, and is read from the store at the start', async () => {
    const rows: TokenOverrun[] = [];
    const factors = new LearnedFactors(fakeStore(rows), new ManualClock(), () => {});
    for (const accountId of [1n, 2n]) factors.noteOverrun(MODEL, accountId, 2.5);
    await factors.read();
    expect(factors.of(MODEL)).toBe(1.5);
    factors.noteOverrun(MODEL, 3n, 1.8);
    await factors.read();
    expect(factors.of(MODEL)).toBe(1.8);
    const next = new LearnedFactors(fakeStore(rows), new ManualClock(), () => {});
    await next.read();
    expect(next.of(MODEL)).toBe(1.8);
    for (const one of [factors, next]) one.close();
  });

  test('is never lowered, never above the limit, and none of a known tokenizer', async () => {
    const rows = [overrun(1n, 1.2), overrun(2n, 1.2), overrun(3n, 1.2)];
    const factors = new LearnedFactors(fakeStore(rows), new ManualClock(), () => {});
    await factors.read();
    expect(factors.of(MODEL)).toBe(1.5);
    factors.noteOverrun(MODEL, 4n, 1_000);
    expect(rows.at(-1)?.factor).toBe(LIMITS.tokenFactorMax);
    const known = { ...MODEL, tokenizer: 'o200k_base', tokenFactor: { factor: 1, source: '' } } as CatalogModel;
    factors.noteOverrun(known, 5n, 3);
    expect(rows).toHaveLength(4);
    expect(factors.of(known)).toBe(1);
    factors.close();
  });

  test('follows the store every minute, and stays as it is while the store is unreachable', async () => {
    const clock = new ManualClock();
    const errors: unknown[] = [];
    let answer: () => Promise<TokenOverrun[]> = async () => [overrun(1n, 2), overrun(2n, 2), overrun(3n, 2)];
    const store = { noteTokenOverrun: async () => {}, listTokenOverruns: () => answer() };
    const factors = new LearnedFactors(store, clock, (error) => errors.push(error));
    await factors.read();
    answer = () => Promise.reject(new Error('away'));
    clock.advance(LIMITS.tokenFactorsReadMs);
    await new Promise((resolve) => setImmediate(resolve));
    expect([factors.of(MODEL), errors.length]).toEqual([2, 1]);
    answer = async () => [];
    clock.advance(LIMITS.tokenFactorsReadMs);
    await new Promise((resolve) => setImmediate(resolve));
    expect(factors.of(MODEL)).toBe(1.5);
    factors.close();
    expect(clock.pendingTimers).toBe(0);
  });

  test('that would have covered a prompt is computed from the part that it scales', () => {
    const count = { scaledTokens: 150, factor: 1.5 };
    expect(neededFactor(count, 500, 500)).toBe(1.5);
    expect(neededFactor(count, 500, 550)).toBe(2);
    expect(neededFactor({ scaledTokens: 0, factor: 1.5 }, 500, 550)).toBe(1.5);
  });
});
