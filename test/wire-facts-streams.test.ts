import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../src/canonical/events.ts';
import { messages } from '../src/wires/messages/index.ts';
import { responses } from '../src/wires/responses/index.ts';
import { framesOf } from './messages-conformity.ts';
import { feed, TERMS as MESSAGES_TERMS } from './messages-relay.ts';
import { textOf } from './messages-request.ts';
import { billFor, eventsIn, fixture, type Json, relayInPieces, TERMS } from './responses-stream.ts';

/** Details of the streams of two wires that no recording shows by itself. */

test('a message begins once, even if a host begins it twice', () => {
  const start = (id: string) => ({ type: 'message_start', message: { id, usage: { input_tokens: 1 } } });
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  const words = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ahoy' } };
  const body = [start('msg_1'), block, words, start('msg_2')].map(
    (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  const client = feed(messages.relay.stream!.mend(MESSAGES_TERMS), Buffer.from(body.join('')), 64);
  expect(framesOf(client).map(({ event }) => event)).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
  ]);
});

function writtenEvents(): { name: string | null; data: Json }[] {
  const events: CanonicalEvent[] = [
    { kind: 'start', id: null, createdS: 1 },
    { kind: 'block-start', block: { kind: 'reasoning' } },
    { kind: 'block-delta', text: 'Hm.' },
    { kind: 'block-end', opaque: null },
    { kind: 'block-start', block: { kind: 'text' } },
    { kind: 'block-delta', text: 'So.' },
    { kind: 'block-end', opaque: null },
    { kind: 'block-start', block: { kind: 'tool-call', id: 'call_1', name: 'open' } },
    { kind: 'block-delta', text: '{}' },
    { kind: 'block-end', opaque: null },
    { kind: 'finish', reason: 'tool_calls', raw: null, stopSequence: null },
  ];
  const writer = responses.hub!.client!.writeStream({ ...TERMS, request: {}, outputLimit: 100 });
  return eventsIn(events.map((event) => writer.event(event)).join('') + writer.closing(billFor()));
}

test('a response opens in progress: no output, no usage', () => {
  const opening = writtenEvents().slice(0, 2);
  expect(opening.map(({ name }) => name)).toEqual(['response.created', 'response.in_progress']);
  for (const { data } of opening) {
    expect(data.response).toMatchObject({ status: 'in_progress', output: [], usage: null });
  }
});

test('an item is announced empty: no summary, no content, no arguments', () => {
  const added = writtenEvents().filter(({ name }) => name === 'response.output_item.added');
  expect(added.map(({ data }) => data.item)).toMatchObject([
    { type: 'reasoning', summary: [] },
    { type: 'message', status: 'in_progress', content: [] },
    { type: 'function_call', status: 'in_progress', arguments: '' },
  ]);
});

test('the phase of a message passes on its own wire, both ways', () => {
  const turn = { type: 'message', role: 'assistant', phase: 'commentary', content: 'Looking.' };
  const text = textOf({ model: 'm', input: [{ role: 'user', content: 'x' }, turn], max_output_tokens: 9 });
  const sent = responses.relay.spliceRequest(text, responses.client.peek(text, {}), {
    hostModel: 'm',
    outputLimit: 9,
    outputLimitField: 'max_tokens',
    forwards: [],
    reasoningEffort: null,
    reducesVectors: false,
  });
  expect(JSON.parse(sent.toString()).input[1]).toEqual(turn);
  const body = fixture('text').toString().replaceAll('"role":"assistant"', '"role":"assistant","phase":"final_answer"');
  const got = eventsIn(relayInPieces(responses.relay.stream!.mend(TERMS), Buffer.from(body), 64));
  const { output } = got.at(-1)!.data.response as { output: Json[] };
  expect(output).toMatchObject([{ type: 'message', phase: 'final_answer' }]);
});
