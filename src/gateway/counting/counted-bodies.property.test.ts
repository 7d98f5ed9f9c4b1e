import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { expectSame } from '../../../test/expect-same.ts';
import { promptBodies } from '../../../test/prompt-bodies.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { WIRE_NAMES } from '../../canonical/wire-names.ts';
import { ManualClock } from '../../kit/clock.ts';
import type { CountOrder } from '../../money/count-tasks.ts';
import { promptTexts } from '../../wires/prompt-texts.ts';
import { WIRES } from '../../wires/registry.ts';
import { readBody } from '../read-call.ts';
import { promptOf } from './prompt-counter.ts';
import { TokenCounter } from './token-counter.ts';

/** The counting thread reads bodies by itself; it must find what the main thread would have handed over. */

// Its clock stands still, so no count takes too long.
const counter = new TokenCounter(new ManualClock());
afterAll(() => counter.close());

const ORDERS: readonly CountOrder[] = [
  { owner: 'key', account: 'account', encoding: 'o200k_base', terms: { exact: true, factor: 1 } },
  { owner: 'key', account: 'account', encoding: 'o200k_base', terms: { exact: false, factor: 1.7 } },
];

test.each(WIRE_NAMES)('a body of the %s wire has the same count as its texts', async (name) => {
  const runs = randomCases(100);
  let bodies = 0;
  const property = fc.asyncProperty(promptBodies(name), fc.constantFrom(...ORDERS), async (bytes, order) => {
    const text = readBody(bytes);
    const { size } = WIRES[name].client.peek(text, {});
    const texts = promptTexts(name, text);
    const chars = [...texts.texts, ...texts.toolTexts].reduce((sum, one) => sum + one.length, 0);
    const prompt = promptOf(name, text, size);
    expectSame(prompt, { wire: name, bytes, chars });
    // Another account, so that the second count is not remembered from the first.
    const [byBody, byTexts] = await Promise.all([
      counter.count(order, prompt),
      counter.count({ ...order, account: 'another' }, texts),
    ]);
    expect(byBody).not.toBeNull();
    expect(byBody).toEqual(byTexts);
    if (chars > 0) bodies++;
  });
  await fc.assert(property, { numRuns: runs });
  expect(bodies).toBeGreaterThan(runs / 2);
});
