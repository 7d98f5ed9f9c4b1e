import { expect, test } from 'vitest';
import { SseFrame } from '../../kit/sse.ts';
import { isLearnable } from './learnable-frame.ts';

const identity = { id: 'chatcmpl-1', created: '1790000001' };
const choice = { index: 0, delta: { content: 'x' }, finish_reason: null };
const chunk = { id: identity.id, object: 'chat.completion.chunk', created: 1_790_000_001, choices: [choice] };
const frameOf = (fields: object) => new SseFrame(Buffer.from(`data: ${JSON.stringify(fields)}\n\n`), 1);

test('a frame serves other streams where it has the identity of its own', () => {
  expect(isLearnable(frameOf(chunk), identity, true)).toBe(true);
  expect(isLearnable(frameOf({ ...chunk, id: 'chatcmpl-2' }), identity, true)).toBe(false);
  expect(isLearnable(frameOf({ ...chunk, created: 1_790_000_002 }), identity, true)).toBe(false);
});

test('a frame serves no other stream where it has words that nobody expected, or none', () => {
  expect(isLearnable(frameOf(chunk), identity, false)).toBe(false);
  expect(isLearnable(frameOf({ ...chunk, choices: [{ ...choice, delta: {} }] }), identity, true)).toBe(false);
});
