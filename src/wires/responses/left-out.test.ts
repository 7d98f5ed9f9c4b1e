import { expect, test } from 'vitest';
import { scanJson } from '../../json/json.ts';
import { Adjustments } from '../adjustments.ts';
import { noteFlattened } from './left-out.ts';

const LIMITS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };
const PATCH = {
  type: 'custom',
  name: 'patch',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "patch"' },
};

test.each([
  ['the grammar of a custom tool, if it knows only functions', {}, 'tools.0.format=dropped'],
  ['nothing, if it knows custom tools', { clientTools: true }, null],
])('a host of the same wire misses %s', (_, quirks, adjusted) => {
  const adjustments = new Adjustments(false);
  const text = scanJson(Buffer.from(JSON.stringify({ tools: [PATCH], input: 'Go on.' })), LIMITS);
  noteFlattened(text, { quirks }, adjustments);
  expect(adjustments.describe(null)).toBe(adjusted);
});
