import { expect, test } from 'vitest';
import { feedPieces, RELAY_TERMS } from '../../../test/chat-wire.ts';
import { mendStream } from './mend.ts';

const call = (fields: object): Buffer => {
  const choices = [{ index: 0, delta: { tool_calls: [{ index: 0, ...fields }] }, logprobs: null, finish_reason: null }];
  const chunk = { id: 'chatcmpl-1', created: 1_790_000_000, object: 'chat.completion.chunk', model: 'bridge', choices };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
};

test('a fragment that names its call is read each time: the same bytes may begin another call', () => {
  const named = { id: 'c', type: 'function', function: { name: 'f', arguments: ' toll' } };
  const pieces = [call({ function: { arguments: ' toll' } }), call(named), call(named)];
  const known = feedPieces(mendStream(RELAY_TERMS), pieces);
  expect(known).toBe(feedPieces(mendStream({ ...RELAY_TERMS, parseEveryFrame: true }), pieces));
  expect(known).toContain('"index":1,"id":"c"');
});
