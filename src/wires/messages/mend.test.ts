import { describe, expect, test } from 'vitest';
import { framesOf, streamFaults } from '../../../test/messages-conformity.ts';
import { allRecordings, expectedUsage, type Recording, toldBy } from '../../../test/messages-recordings.ts';
import { billOf, feed, PIECES, relayWhole, TERMS } from '../../../test/messages-relay.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { mendStream } from './mend.ts';

const { recordings, hasCorpus } = allRecordings();
const streams = recordings.filter(({ mode, status }) => mode === 'stream' && status === 200);
const whole = streams.filter(({ error }) => error === null);
const broken = streams.filter(({ error }) => error !== null);

test.skipIf(hasCorpus)(
  'recorded hosts: ../shared/corpus is not here, so only the project’s own recordings are read',
  () => {},
);

describe.each(whole.map((recording) => [recording.id, recording] as const))('%s', (_id, recording) => {
  test.each(PIECES)('conforms and keeps all text, cut every %i bytes', (pieceBytes) => {
    const relay = mendStream(TERMS);
    const client = relayWhole(relay, recording.body, pieceBytes);
    expect(streamFaults(client, TERMS.requestId, TERMS.catalogModel)).toEqual([]);
    expect(toldBy('stream', client)).toEqual(toldBy('stream', recording.body));
    expect(relay.usage).toEqual({ state: 'reported', usage: expectedUsage(recording) });
    expect(relay.terminal || relay.mayEndHere).toBe(true);
    expect(relay.error).toBeNull();
  });
});

describe.each(broken.map((recording) => [recording.id, recording] as const))('%s', (_id, recording) => {
  test('ends with the host’s error, after the content so far', () => {
    const relay = mendStream(TERMS);
    const client = feed(relay, recording.body, 7);
    expect(relay.terminal).toBe(true);
    expect(relay.error?.kind).toBe(recording.error!.kind);
    expect(client).not.toContain('message_stop');
    expect(toldBy('stream', client)).toEqual(toldBy('stream', recording.body));
  });
});

function stream(...frames: (object | string)[]): Buffer {
  const text = frames.map((frame) =>
    typeof frame === 'string'
      ? frame
      : `event: ${(frame as { type: string }).type}\ndata: ${JSON.stringify(frame)}\n\n`,
  );
  return Buffer.from(text.join(''));
}

const START = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'host/name', usage: { input_tokens: 5, output_tokens: 1, cost: 3 } },
};
const TEXT_HEAD = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const WORDS = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ahoy' } };
const TAIL = { type: 'content_block_stop', index: 0 };
const END = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } };
const STOP = { type: 'message_stop' };

function mended(...frames: (object | string)[]) {
  const relay = mendStream(TERMS);
  const client = feed(relay, stream(...frames), 1_000_000);
  return { relay, client, frames: framesOf(client) };
}

test('conforming frames are passed on byte for byte, including padding', () => {
  const recording = whole.find(({ id }) => id === 'text') as Recording;
  const client = relayWhole(mendStream(TERMS), recording.body, 64);
  for (const frame of recording.body.toString().split('\n\n').filter(isContent))
    expect(client).toContain(`${frame}\n\n`);
});

function isContent(frame: string): boolean {
  return frame.startsWith('event: content_block');
}

test('frames leave as they come; only what carries usage, and what follows it, waits for the settlement', () => {
  const relay = mendStream(TERMS);
  const types = [START, TEXT_HEAD, WORDS, TAIL, END, STOP].map((frame) => {
    const sent = feed(relay, stream(frame), 1_000_000);
    return framesOf(sent).map(({ event }) => event);
  });
  expect(types).toEqual([
    ['message_start'],
    ['content_block_start'],
    ['content_block_delta'],
    ['content_block_stop'],
    [],
    [],
  ]);
});

test('the streamed usage is the billed one, whatever the host said', () => {
  const { relay } = mended(START, TEXT_HEAD, WORDS, TAIL, END, STOP);
  const billed = {
    ...ZERO_USAGE,
    freshTokens: 3,
    cacheWriteTokens: 2,
    cacheWrite1hTokens: 4,
    outputTokens: 9,
    reasoningTokens: 1,
  };
  const [delta, stop, receipt] = framesOf(relay.closing(billOf(billed)));
  expect(delta?.data.usage).toEqual({
    input_tokens: 3,
    cache_creation_input_tokens: 6,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 },
    output_tokens: 9,
    output_tokens_details: { thinking_tokens: 1 },
    server_tool_use: null,
  });
  expect(stop?.data).toEqual({ type: 'message_stop' });
  expect(receipt?.data).toMatchObject({
    type: 'gateway_receipt',
    request_id: TERMS.requestId,
    model: TERMS.catalogModel,
  });
});

test('the receipt gives amounts digit for digit', () => {
  const { relay } = mended(START, TEXT_HEAD, WORDS, TAIL, END, STOP);
  const closing = relay.closing(billOf(ZERO_USAGE));
  expect(closing).toContain(`"cost_nanousd":${2n ** 60n + 8n},`);
  expect(closing).toContain(`"components":{"fresh":7,"cache_write":0,"cache_read":1,"output":${2n ** 60n}}`);
  expect(relay.closing({ ...billOf(ZERO_USAGE), components: null })).toContain('"components":null');
});

test('a caller that does without the receipt gets the same stream up to it', () => {
  const relay = mendStream({ ...TERMS, wantsUsageFrame: false });
  feed(relay, stream(START, TEXT_HEAD, WORDS, TAIL, END, STOP), 1_000_000);
  const events = framesOf(relay.closing(billOf(ZERO_USAGE))).map(({ event }) => event);
  expect(events).toEqual(['message_delta', 'message_stop']);
});

test('the first frame names the catalog’s model and hides the host’s bill', () => {
  const { frames } = mended({ ...START, message: { ...START.message, provider: 'somebody' } });
  expect(frames[0]?.data.message).toMatchObject({ id: 'msg_1', model: TERMS.catalogModel });
  expect(frames[0]?.data.message).not.toHaveProperty('provider');
  expect(frames[0]?.data.message).not.toHaveProperty('usage.cost');
});

test('before the end usage is partial: input is known, output is not', () => {
  const { relay } = mended(START, TEXT_HEAD, WORDS);
  expect(relay.usage).toEqual({ state: 'partial', usage: { ...ZERO_USAGE, freshTokens: 5, outputTokens: 1 } });
  expect(mended(START, { ...END, delta: {} }).relay.usage.state).toBe('partial');
  expect(mended(TEXT_HEAD).relay.usage).toEqual({ state: 'missing' });
});

test('usage is partial if content follows it, until the host counts again', () => {
  const call = { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't', name: 'tide' } };
  const state = (...events: object[]) => mended(START, TEXT_HEAD, ...events, STOP).relay.usage.state;
  expect(state(WORDS, END, TAIL)).toBe('reported');
  expect(state(END, WORDS, TAIL)).toBe('partial');
  expect(state(WORDS, TAIL, END, call)).toBe('partial');
  expect(state(END, WORDS, TAIL, END)).toBe('reported');
});

test('counts that cannot be billed do not replace earlier ones, which are no longer final', () => {
  const spoiled = { ...END, usage: { input_tokens: -5 } };
  const { relay } = mended(START, TEXT_HEAD, WORDS, TAIL, END, spoiled, STOP);
  expect(relay.usage).toEqual({
    state: 'partial',
    usage: expect.objectContaining({ freshTokens: 5 }),
    defect: "the host's input_tokens is not a valid count",
  });
  expect(relay.closing(billOf(ZERO_USAGE))).not.toContain('-5');
});

test('a host that breaks off is not taken for one that has ended', () => {
  expect(mended(START, TEXT_HEAD, WORDS, TAIL).relay).toMatchObject({ mayEndHere: false, terminal: false });
  expect(mended(START, TEXT_HEAD, WORDS, TAIL, END).relay).toMatchObject({ mayEndHere: true, terminal: false });
});

test('going back to a block that has ended fails the stream: nothing is lost in silence', () => {
  const second = { ...TEXT_HEAD, index: 1 };
  const { relay } = mended(START, TEXT_HEAD, WORDS, TAIL, second, WORDS);
  expect(relay.error).toMatchObject({ kind: 'unavailable' });
  const orphan = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{' } };
  expect(mended(START, orphan).relay.error).toMatchObject({ kind: 'unavailable' });
});

test('a frame that is not JSON fails the stream', () => {
  expect(mended(START, 'event: content_block_delta\ndata: {"type":\n\n').relay.error).toMatchObject({
    kind: 'unavailable',
  });
});

test('a frame without its event’s name, or with another, gets the right one and keeps its data', () => {
  const data = JSON.stringify(WORDS);
  for (const line of ['', 'event: message\n', 'event: content_block_start\n']) {
    const { client } = mended(START, TEXT_HEAD, `${line}data: ${data}\n\n`);
    expect(client).toContain(`\n\nevent: content_block_delta\ndata: ${data}\n\n`);
  }
});

test('an event whose data does not say what it is gets its type', () => {
  const { type: _, ...untyped } = WORDS;
  const { client } = mended(START, TEXT_HEAD, `event: content_block_delta\ndata: ${JSON.stringify(untyped)}\n\n`);
  expect(framesOf(client).at(-1)).toEqual({ event: 'content_block_delta', data: WORDS });
  expect(mended(START, 'data: {}\n\n').frames).toHaveLength(1);
  expect(mended(START, 'data: {"error":{"message":"x"}}\n\n').relay.error).toMatchObject({ message: 'x' });
});

test('pings before the first frame are left out, later ones pass', () => {
  expect(mended({ type: 'ping' }).client).toBe('');
  expect(mended(START, { type: 'ping' }).frames.map(({ event }) => event)).toEqual(['message_start', 'ping']);
});

test('nothing passes after the end, not even what a block left open would take', () => {
  const { relay, client } = mended(START, TEXT_HEAD, WORDS, END, STOP, WORDS);
  expect(client.match(/Ahoy/g)).toHaveLength(1);
  expect(relay.relayedBytes).toBe(4);
  expect(framesOf(relay.closing(billOf(ZERO_USAGE)))[0]?.event).toBe('content_block_stop');
});

test('a host cannot write a receipt', () => {
  expect(mended(START, { type: 'gateway_receipt', cost_nanousd: 0 }).frames).toHaveLength(1);
  expect(mended(START, TEXT_HEAD, TAIL, END, STOP, { type: 'gateway_receipt' }).client).not.toContain(
    'gateway_receipt',
  );
});

test('members and events that nobody knows survive', () => {
  const recording = whole.find(({ id }) => id === 'unknown-events') as Recording;
  const frames = framesOf(relayWhole(mendStream(TERMS), recording.body, 7));
  expect(frames[0]?.data).toMatchObject({ message: { future_member: { kept: true } } });
  expect(frames.find(({ event }) => event === 'weather_report')?.data).toMatchObject({ wind: 'north' });
  const end = frames.find(({ event }) => event === 'message_delta');
  expect(end?.data).toMatchObject({ tide: 'low', usage: { moon: 'full' } });
});

test('what was relayed is counted in bytes of the model’s own words', () => {
  const call = {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 't', name: 'tide', input: {} },
  };
  const input = { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"é":1}' } };
  expect(mended(START).relay.relayedBytes).toBe(0);
  expect(mended(START, TEXT_HEAD, WORDS, TAIL, call, input).relay.relayedBytes).toBe(4 + 4 + 8);
});

describe('an error member in a frame of content', () => {
  test('that is an error ends the stream with it', () => {
    const relay = mendStream(TERMS);
    const client = feed(relay, stream(START, TEXT_HEAD, WORDS, { ...WORDS, error: { message: 'broken' } }, STOP), 7);
    expect([relay.terminal, relay.error?.message]).toEqual([true, 'broken']);
    expect(client).not.toContain('message_stop');
  });

  test.each([[null], [[null]], ['no'], [7], [false]])('that is %o is removed, and the stream goes on', (error) => {
    const relay = mendStream(TERMS);
    const client = feed(relay, stream(START, TEXT_HEAD, { ...WORDS, error }, TAIL, END, STOP), 7);
    expect([relay.terminal, relay.error, relay.relayedBytes]).toEqual([true, null, 4]);
    expect(client).toContain('Ahoy');
    expect(client).not.toContain('"error"');
  });
});
