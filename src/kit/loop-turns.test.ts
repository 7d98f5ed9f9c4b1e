import { expect, test } from 'vitest';
import { LoopTurns } from './loop-turns.ts';

const nextTurn = (): Promise<void> => new Promise(setImmediate);

test('counts until the second turn after the last request for one, and no further', async () => {
  const turns = new LoopTurns();
  const first = turns.afterNextLook();
  expect(turns.count).toBeLessThan(first);
  await nextTurn();
  const second = turns.afterNextLook();
  expect(turns.count).toBeLessThan(second);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(turns.count).toBe(second);
  expect(turns.afterNextLook()).toBe(second + 2);
});
