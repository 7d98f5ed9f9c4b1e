import { expect, test } from 'vitest';
import { entriesOf, type Turn } from './conversation.ts';

const TURN: Turn = {
  ...{ id: 1, asked: { role: 'user', text: 'Hello', images: [] }, model: 'sim-gpt', reasoning: '', toolCalls: [] },
  ...{ text: '', state: 'done', error: null, requestId: null, hasReceipt: true },
};

test.each(['stopped', 'failed', 'done'] as const)('a turn that was %s without any text is not sent again', (state) => {
  expect(entriesOf({ ...TURN, state })).toEqual([]);
});

test.each(['stopped', 'failed', 'done'] as const)(
  'a turn that was %s after some text is sent again with it',
  (state) => {
    const answer = { role: 'assistant', text: 'Hi', toolCalls: [] };
    expect(entriesOf({ ...TURN, state, text: 'Hi' })).toEqual([TURN.asked, answer]);
  },
);
