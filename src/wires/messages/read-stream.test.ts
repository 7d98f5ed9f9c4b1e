import { describe, expect, test } from 'vitest';
import { allRecordings, expectedUsage, toldBy } from '../../../test/messages-recordings.ts';
import { PIECES } from '../../../test/messages-relay.ts';
import { toldByAnswer } from '../../../test/messages-summary.ts';
import { inOrder } from '../../canonical/event-order.ts';
import type { CanonicalEvent } from '../../canonical/events.ts';
import { ResponseFold } from '../../canonical/fold.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { SseFramer } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { readStream } from './read-stream.ts';

const { recordings, hasCorpus } = allRecordings();
const streams = recordings.filter(({ mode, status }) => mode === 'stream' && status === 200);

test.skipIf(hasCorpus)(
  'recorded hosts: ../shared/corpus is not here, so only the project’s own recordings are read',
  () => {},
);

function read(body: Buffer, pieceBytes = 1_000_000) {
  const fold = new ResponseFold();
  const events: CanonicalEvent[] = [];
  const reader = readStream(
    {},
    inOrder((event) => {
      events.push(event);
      fold.event(event);
    }),
  );
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  for (let at = 0; at < body.length; at += pieceBytes) {
    framer.push(body.subarray(at, at + pieceBytes), (frame) => reader.frame(frame));
  }
  framer.end((frame) => reader.frame(frame));
  reader.end();
  return { fold, events };
}

describe.each(streams.map((recording) => [recording.id, recording] as const))('%s', (_id, recording) => {
  test.each(PIECES)('folds into what the host said, cut every %i bytes', (pieceBytes) => {
    const { fold } = read(recording.body, pieceBytes);
    const answer = fold.answer();
    if (recording.error !== null) {
      expect(fold.error?.kind).toBe(recording.error.kind);
      expect(answer).toBeNull();
      return;
    }
    expect(toldByAnswer(answer!)).toEqual(toldBy('stream', recording.body));
    expect(answer!.usage).toEqual({ state: 'reported', usage: expectedUsage(recording) });
  });
});

function frame(event: object): string {
  return `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const START = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 5, output_tokens: 1 } } };

function ending(stop_reason: string, ...blocks: object[]) {
  const end = { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } };
  const text = [START, ...blocks, end, { type: 'message_stop' }].map(frame).join('');
  return read(Buffer.from(text)).fold.answer()!;
}

const CALL = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'tool_use', id: 't', name: 'tide', input: {} },
};

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
  ['a_new_reason', 'stop'],
])('the stop reason %s is read as %s', (raw, reason) => {
  expect(ending(raw).finish).toMatchObject({ reason, raw });
});

test('a host that stops after tool calls without saying so called for tools', () => {
  expect(ending('end_turn', CALL).finish.reason).toBe('tool_calls');
  expect(ending('max_tokens', CALL).finish.reason).toBe('length');
});

test('arguments stay the text that the model wrote, even if empty or with more digits than a number holds', () => {
  const piece = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: '{"n": 10000000000000000001}' },
  };
  expect(ending('tool_use', CALL).blocks).toEqual([
    { head: { kind: 'tool-call', id: 't', name: 'tide' }, text: '', opaque: null },
  ]);
  expect(ending('tool_use', CALL, piece).blocks[0]!.text).toBe('{"n": 10000000000000000001}');
});

test('usage is told as soon as it is known, first in part', () => {
  const { events } = read(Buffer.from(frame(START)));
  expect(events.map(({ kind }) => kind)).toEqual(['start', 'usage']);
  expect(events[1]).toMatchObject({ reading: { state: 'partial', usage: { freshTokens: 5 } } });
});

test('usage is partial if content follows it, and if counts follow that cannot be billed', () => {
  const head = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  const words = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
  const spoiled = { ...end, usage: { output_tokens: -2 } };
  const usage = { ...ZERO_USAGE, freshTokens: 5, outputTokens: 2 };
  const after = (...events: object[]) =>
    read(Buffer.from([START, head, ...events, { type: 'message_stop' }].map(frame).join(''))).fold.answer()!.usage;
  expect(after(words, end)).toEqual({ state: 'reported', usage });
  expect(after(end, words)).toEqual({ state: 'partial', usage });
  expect(after(words, end, CALL)).toEqual({ state: 'partial', usage });
  expect(after(end, words, end)).toEqual({ state: 'reported', usage });
  expect(after(words, end, spoiled)).toEqual({ state: 'partial', usage, defect: expect.any(String) });
});

test('a body that ends before the reason to stop is no answer', () => {
  const { fold, events } = read(Buffer.from(frame(START) + frame(CALL)));
  expect(fold.answer()).toBeNull();
  expect(events.map(({ kind }) => kind)).toEqual(['start', 'usage', 'block-start']);
});

test('blocks that overlap are no answer: nothing is put into the wrong block', () => {
  const second = { ...CALL, index: 1 };
  const words = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } };
  expect(read(Buffer.from([START, CALL, second, words].map(frame).join(''))).fold.error).toMatchObject({
    kind: 'unavailable',
  });
  const orphan = { ...words, delta: { type: 'input_json_delta', partial_json: '{' } };
  expect(read(Buffer.from([START, orphan].map(frame).join(''))).fold.error).toMatchObject({ kind: 'unavailable' });
});

test('after the end nothing more is read', () => {
  const late = frame({ type: 'message_stop' }) + frame({ type: 'error', error: { type: 'api_error' } });
  const { events } = read(Buffer.from(frame(START) + late + late));
  expect(events.map(({ kind }) => kind)).toEqual(['start', 'usage', 'finish']);
});
