import { expect, test } from 'vitest';
import type { HostQuirks } from '../src/canonical/host-quirks.ts';
import { ZERO_USAGE } from '../src/canonical/usage.ts';
import { translateResponse } from '../src/gateway/translate.ts';
import { WIRES } from '../src/wires/registry.ts';
import { jsonText } from './chat-wire.ts';
import { billOf, WRITE_TERMS } from './messages-relay.ts';

/** A reseller on the chat wire, which tags reasoning with the vendor that made it. */
const RESELLER: HostQuirks = { seals: 'any' };
const SIGNED = { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'maker-v1', index: 0 };
const SEALED = { type: 'reasoning.encrypted', data: 'ZW5j', format: 'other-maker-v2', id: 'call_1', index: 1 };
const CALL = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } };

const ANSWER = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: { role: 'assistant', content: null, reasoning_details: [SIGNED, SEALED], tool_calls: [CALL] },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** The answer as a caller of this wire gets it. */
function answerOn(wire: 'messages' | 'responses') {
  const { client } = WIRES[wire].hub!;
  const body = Buffer.from(JSON.stringify(ANSWER));
  const answer = translateResponse(body, client!, WIRES.chat.hub!.upstream!, WRITE_TERMS, RESELLER);
  return JSON.parse(answer.write(billOf(ZERO_USAGE)).toString());
}

/** The caller's next request as a chat host with these quirks gets it. */
function sentTo(quirks: HostQuirks, wire: 'messages' | 'responses', request: object) {
  const { client, hub } = WIRES[wire];
  const text = jsonText(request);
  const body = WIRES.chat.hub!.upstream!.writeRequest(hub!.client!.readRequest(text, client.peek(text, {})), {
    hostModel: 'm',
    stream: false,
    outputLimit: 9,
    outputLimitField: 'max_tokens',
    reasoningEffort: null,
    thinking: null,
    quirks,
  });
  return JSON.parse(body.toString()).messages.find(({ role }: { role: string }) => role === 'assistant');
}

const RESULT = { type: 'tool_result', tool_use_id: 'call_1', content: 'high' };
const CONVERSATIONS = {
  messages: () => ({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: answerOn('messages').content },
      { role: 'user', content: [RESULT] },
    ],
  }),
  responses: () => ({
    model: 'm',
    input: [
      { role: 'user', content: 'Hi' },
      ...answerOn('responses').output,
      { type: 'function_call_output', call_id: 'call_1', output: 'high' },
    ],
  }),
} as const;

test.each(['messages', 'responses'] as const)(
  'reasoning that a reseller has tagged comes back to it from a caller of the %s wire',
  (wire) => {
    const { reasoning_details: details } = sentTo(RESELLER, wire, CONVERSATIONS[wire]());
    expect(details).toEqual([SIGNED, SEALED]);
  },
);

test.each(['messages', 'responses'] as const)(
  'reasoning that a reseller has tagged goes to no other host from the %s wire',
  (wire) => {
    expect(sentTo({}, wire, CONVERSATIONS[wire]())).not.toHaveProperty('reasoning_details');
  },
);

test('reasoning that is bound to an account of this gateway does not go to a reseller', () => {
  const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'ours' };
  const call = { type: 'function_call', call_id: 'call_1', name: 'tide', arguments: '{}' };
  const request = { model: 'm', input: [{ role: 'user', content: 'Hi' }, sealed, call] };
  expect(sentTo(RESELLER, 'responses', request)).not.toHaveProperty('reasoning_details');
});
