import { beforeEach, expect, test } from 'vitest';
import type { LedgerOutcome } from '../store/store.ts';
import { AbandonedHolds } from './abandoned-holds.ts';

let tries: { readonly id: bigint; answer(outcome: LedgerOutcome): void; fail(error: Error): void }[];
let abandoned: AbandonedHolds;

beforeEach(() => {
  tries = [];
  abandoned = new AbandonedHolds((id) => {
    const { promise, resolve, reject } = Promise.withResolvers<LedgerOutcome>();
    tries.push({ id, answer: resolve, fail: reject });
    return promise;
  });
});

const triedIds = () => tries.map(({ id }) => id);
/** Until the answers given so far have been noticed. */
const noticed = () => new Promise((resolve) => setImmediate(resolve));

test('voids a hold at once, and no other hold with it', () => {
  for (const id of [1n, 2n, 3n]) abandoned.add(id);
  expect(triedIds()).toEqual([1n, 2n, 3n]);
});

test('does not submit a void again while it waits for a commit', async () => {
  abandoned.add(1n);
  abandoned.voidAll();
  abandoned.voidAll();
  expect([triedIds(), abandoned.size]).toEqual([[1n], 1]);
  tries[0]!.answer({ kind: 'voided' });
  await noticed();
  abandoned.voidAll();
  expect([triedIds(), abandoned.size]).toEqual([[1n], 0]);
});

test('tries again after the store was unavailable, or could not write the void', async () => {
  abandoned.add(1n);
  tries[0]!.fail(new Error('unavailable'));
  await noticed();
  abandoned.voidAll();
  tries[1]!.answer({ kind: 'operation_failed', message: 'no' });
  await noticed();
  abandoned.voidAll();
  tries[2]!.answer({ kind: 'voided' });
  await noticed();
  expect([triedIds(), abandoned.size]).toEqual([[1n, 1n, 1n], 0]);
});

test('forgets a hold that turned out to have ended', async () => {
  abandoned.add(1n);
  tries[0]!.answer({ kind: 'void_not_open' });
  await noticed();
  expect(abandoned.size).toBe(0);
});
