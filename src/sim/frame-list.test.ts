import { expect, test } from 'vitest';
import { FrameList, NOTHING_SPENT } from './frame-list.ts';

test('a list of frames knows what was spent up to any of them', () => {
  const list = new FrameList();
  expect(list.spent).toEqual(NOTHING_SPENT);
  list.push('start');
  list.push('thought', { outputTokens: 3, reasoningTokens: 3 });
  list.push('word', { outputTokens: 4, reasoningTokens: 0 });
  list.push('end');
  expect(list.spent).toEqual({ outputTokens: 7, reasoningTokens: 3 });
  list.cut(2);
  expect([list.frames, list.spent]).toEqual([['start', 'thought'], { outputTokens: 3, reasoningTokens: 3 }]);
  list.cut(9);
  expect(list.frames).toHaveLength(2);
  list.push('error');
  expect(list.spent).toEqual({ outputTokens: 3, reasoningTokens: 3 });
});
