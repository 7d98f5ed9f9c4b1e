import { expect, test } from 'vitest';
import { WIRES } from '../src/wires/registry.ts';
import { peekAt, textOf } from './messages-request.ts';

/** Chat hosts take nothing between the calls of a turn and their results, so only the results move. */

const TERMS = {
  hostModel: 'm',
  stream: false,
  outputLimit: 9,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
} as const;
const CALL = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] };
const RESULT = { type: 'tool_result', tool_use_id: 'c1', content: 'R' };
const ANSWERED = { role: 'user', content: [RESULT, { type: 'text', text: 'B' }] };

test.each(['user', 'system'])('the texts of the caller keep their order after a message of the %s', (role) => {
  const messages = [{ role: 'user', content: 'Go' }, CALL, { role, content: 'A' }, ANSWERED];
  const body = { model: 'm', max_tokens: 9, messages };
  const request = WIRES.messages.hub!.client!.readRequest(textOf(body), peekAt(body));
  const sent = JSON.parse(WIRES.chat.hub!.upstream!.writeRequest(request, TERMS).toString());
  expect(sent.messages.slice(2).map(({ content }: { content: string }) => content)).toEqual(['R', 'A', 'B']);
});
