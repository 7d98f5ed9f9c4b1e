import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TranslatedStream } from '../src/gateway/translate.ts';
import { SseFrame } from '../src/kit/sse.ts';
import { WIRES } from '../src/wires/registry.ts';
import type { StreamRelay } from '../src/wires/wire.ts';
import { RELAY_TERMS } from './chat-wire.ts';
import { type Harness, startHarness } from './harness.ts';

/** Ways somebody might try to get more than was paid for; each was possible once. */

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});

afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

/** Frames up to the name of a tool, which may be all that a client wanted, in the format of each host wire. */
const CONVERSATIONAL = ['chat', 'messages', 'responses'] as const;
const NAMED: Readonly<Record<(typeof CONVERSATIONAL)[number], readonly object[]>> = {
  chat: [
    { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: null } }] },
    {
      id: 'c',
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'label_spam', arguments: '' } }],
          },
        },
      ],
    },
  ],
  messages: [
    {
      type: 'message_start',
      message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'label_spam', input: {} },
    },
  ],
  responses: [
    { type: 'response.created', sequence_number: 0, response: { id: 'resp_1', status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: {
        id: 'fc_1',
        type: 'function_call',
        call_id: 'call_1',
        name: 'label_spam',
        arguments: '',
        status: 'in_progress',
      },
    },
  ],
};

describe.each(CONVERSATIONAL)('the name of a tool told by a host of %s', (host) => {
  const terms = { ...RELAY_TERMS, outputLimit: 10 };
  const opened: Readonly<Record<string, () => StreamRelay>> = {
    'for its own wire': () => WIRES[host].relay.stream!.mend(terms),
    ...Object.fromEntries(
      CONVERSATIONAL.filter((client) => client !== host).map((client) => [
        `translated for ${client}`,
        () => new TranslatedStream(WIRES[client].hub!.client!, WIRES[host].hub!.upstream!, terms, {}),
      ]),
    ),
  };

  test.each(Object.entries(opened))('counts as content that left, %s: who hangs up then still pays', (how, open) => {
    const relay = open();
    const told = NAMED[host].map((event) => {
      const name = 'type' in event ? `event: ${event.type}\n` : '';
      return relay.frame(new SseFrame(Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`)))?.toString() ?? '';
    });
    // A translation may wait for the whole tool call; the client is not charged for what it has not been sent.
    const isTold = told.join('').includes('label_spam');
    expect(relay.relayedBytes).toBe(isTold ? 'label_spam'.length : 0);
    if (!how.startsWith('translated')) expect(isTold).toBe(true);
  });
});

const PLAIN = { model: 'sim-gpt', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };

describe('a second spelling of a deciding name', () => {
  test.each(['Model', 'MAX_TOKENS', 'N', 'max_to\u212aens', 'me\u017f\u017fages', 'Provider'])(
    '%s is refused',
    async (name) => {
      const before = harness.sim.received();
      const response = await harness.post({ ...PLAIN, [name]: 1 });
      expect(response.status).toBe(400);
      expect(((await response.json()) as { error: object }).error).toMatchObject({
        code: 'duplicate_key',
        param: name,
      });
      expect(harness.sim.received()).toBe(before);
    },
  );

  test('inside stream_options too, while other names in capitals pass', async () => {
    const hidden = await harness.post({ ...PLAIN, stream: true, stream_options: { Include_Usage: false } });
    expect(hidden.status).toBe(400);
    expect((await harness.post({ ...PLAIN, myOwnField: 1 })).status).toBe(200);
  });
});

test.each(['n_predict', 'num_predict', 'max_length', 'max_new_tokens', 'chat_template', 'extra_body', 'enable_search'])(
  '%s, which could undo the limit or the price, is refused by name',
  async (field) => {
    const response = await harness.post({ ...PLAIN, [field]: { a: 1 } });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: object }).error).toMatchObject({
      code: 'unsupported_feature',
      param: field,
    });
  },
);

test('a host cannot write frames of its own through the name of an event', async () => {
  const forged = 'x\n\nevent: gateway_receipt\ndata: {"type":"gateway_receipt","cost_nanousd":0}\n\nevent: y';
  const start = {
    type: 'message_start',
    message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  };
  const frames = [
    start,
    { type: forged },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const body = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
  const mended = await startHarness();
  mended.sim.script({ raw: { contentType: 'text/event-stream', base64: Buffer.from(body).toString('base64') } });
  const ask = { model: 'sim-claude', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'Hello' }] };
  const text = await (await mended.post(ask, {}, '/v1/messages')).text();
  expect(text.match(/event: gateway_receipt/g)).toHaveLength(1);
  expect(text).not.toContain('"cost_nanousd":0}');
  await mended.settled();
  await mended.stop();
});
