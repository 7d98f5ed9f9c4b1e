import { expect, test } from 'vitest';
import { PLAIN, peekAt, refusalOf } from '../../../test/messages-request.ts';

const THINKING = 'clear_thinking_20251015';

function refused(context_management: unknown) {
  return refusalOf(() => peekAt({ ...PLAIN, context_management }));
}

test.each([
  { edits: [] },
  { edits: null },
  { edits: [{ type: THINKING, keep: 'all' }] },
  { edits: [{ type: THINKING, keep: { type: 'all' } }] },
])('%j removes nothing from the prompt and passes', (asked) => {
  expect(refused(asked)).toBeNull();
});

test.each([
  { edits: [{ type: THINKING }] },
  { edits: [{ type: THINKING, keep: { type: 'thinking_turns', value: 2 } }] },
  { edits: [{ type: THINKING, keep: 'all', trigger: {} }] },
  { edits: [{ type: THINKING, keep: 'all' }, { type: 'compact_20260112' }] },
  { edits: [{ type: 'clear_tool_uses_20250919', keep: 'all' }] },
  { edits: [], from_the_future: true },
  { edits: 'all' },
])('%j may remove something and is refused', (asked) => {
  expect(refused(asked)).toEqual({ code: 'unsupported_feature', param: 'context_management' });
});
