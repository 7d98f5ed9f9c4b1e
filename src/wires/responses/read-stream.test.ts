import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { answers, misnumberedStreams } from '../../../test/responses-arbitraries.ts';
import { billFor, eventsIn, fixture, framesOf, type Json, TERMS } from '../../../test/responses-stream.ts';
import { inOrder } from '../../canonical/event-order.ts';
import type { CanonicalEvent, CanonicalResponse, FinishReason } from '../../canonical/events.ts';
import { ResponseFold } from '../../canonical/fold.ts';
import { SseFramer } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { HostResponseBroken } from '../wire.ts';
import { readResponse } from './read-response.ts';
import { readStream } from './read-stream.ts';
import { writeStream } from './write-stream.ts';

/** Reads frames to their end; order is asserted on the way. */
function read(frames: Buffer | string, pieceBytes = 1 << 20) {
  const fold = new ResponseFold();
  const events: CanonicalEvent[] = [];
  const emit = inOrder((event) => {
    events.push(event);
    fold.event(event);
  });
  const reader = readStream({}, emit);
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const bytes = Buffer.from(frames);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    framer.push(bytes.subarray(at, at + pieceBytes), (frame) => reader.frame(frame));
  }
  framer.end((frame) => reader.frame(frame));
  reader.end();
  return { answer: fold.answer(), error: fold.error, events };
}

const WHOLE = [
  'text',
  'reasoning-parallel-tools',
  'incomplete',
  'refusal',
  'raw-trace-nameless',
  'changing-ids',
  'repeated-index',
  'all-at-the-end',
  'no-last-event',
  'open-names',
  'interleaved-tools',
  'part-numbered-one',
];

describe('every whole stream', () => {
  test.each(WHOLE)('%s: is understood as recorded, however its bytes arrive', async (name) => {
    const { answer } = read(fixture(name));
    expect(read(fixture(name), 3).answer).toEqual(answer);
    const snapshot = `../../../fixtures/wires/responses/${name}.canonical.json`;
    await expect(`${JSON.stringify(answer, null, 2)}\n`).toMatchFileSnapshot(snapshot);
  });

  test.each(WHOLE.filter((name) => name !== 'no-last-event' && name !== 'changing-ids'))(
    '%s: its last event alone, as a buffered answer, says the same',
    (name) => {
      const response = eventsIn(fixture(name).toString()).at(-1)!.data.response;
      const fold = new ResponseFold();
      readResponse(Buffer.from(JSON.stringify(response)), {}, inOrder(fold.event));
      expect(fold.answer()).toEqual(read(fixture(name)).answer);
    },
  );
});

test('however a host numbers its parts and items, every word is read once', () => {
  const streams = ['text', 'reasoning-parallel-tools', 'refusal', 'interleaved-tools'].map((name) =>
    eventsIn(fixture(name).toString()).map(({ data }) => data),
  );
  fc.assert(
    fc.property(misnumberedStreams(streams), ({ events, misnumbered }) => {
      const texts = (answer: CanonicalResponse | null) => answer!.blocks.map(({ head, text }) => [head.kind, text]);
      expect(texts(read(framesOf(misnumbered)).answer)).toEqual(texts(read(framesOf(events)).answer));
    }),
    { numRuns: randomCases(300) },
  );
});

test('text is passed on as it comes', () => {
  const deltas = read(fixture('text')).events.flatMap((event) => (event.kind === 'block-delta' ? [event.text] : []));
  expect(deltas).toEqual(['Grüße', ', ', 'Welt', ' 🌍!']);
});

test('a trace keeps its paragraphs, and its encrypted form the id its vendor wants back', () => {
  expect(read(fixture('reasoning-parallel-tools')).answer!.blocks[0]).toEqual({
    head: { kind: 'reasoning' },
    text: 'Two cities\n\nso two calls',
    opaque: { vendor: 'responses', form: 'encrypted', data: 'enc-AAAA=', id: 'rs_f1' },
  });
});

test('calls told at the same time are told one after the other', () => {
  const { answer } = read(fixture('interleaved-tools'));
  expect(answer!.blocks.map(({ head, text }) => [head, text])).toEqual([
    [{ kind: 'tool-call', id: 'call_a', name: 'first' }, '{"n":1}'],
    [{ kind: 'tool-call', id: 'call_b', name: 'second' }, '{"n":2}'],
  ]);
});

test('a trace told twice, as a summary and as it was thought, is told once', () => {
  const place = { item_id: 'rs', output_index: 0 };
  const { answer } = read(
    framesOf([
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs' } },
      { type: 'response.reasoning_text.delta', ...place, content_index: 0, delta: 'raw' },
      { type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta: 'short' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'short' }] },
      },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ]),
  );
  expect(answer!.blocks).toEqual([{ head: { kind: 'reasoning' }, text: 'raw', opaque: null }]);
});

describe('how a stream ends', () => {
  test.each([
    ['completed', null, 'stop', 'completed'],
    ['incomplete', { reason: 'max_output_tokens' }, 'length', 'max_output_tokens'],
    ['incomplete', { reason: 'content_filter' }, 'content_filter', 'content_filter'],
  ])('%s %o', (status, details, reason, raw) => {
    const response = { status, incomplete_details: details, output: [], usage: { input_tokens: 3, output_tokens: 1 } };
    const { answer } = read(framesOf([{ type: `response.${status}`, response }]));
    expect(answer).toMatchObject({ finish: { reason, raw }, usage: { state: 'reported', usage: { freshTokens: 3 } } });
  });

  test('with calls it is a call for tools', () => {
    expect(read(fixture('repeated-index')).answer!.finish.reason).toBe('tool_calls');
  });

  test('a cut stream has no end', () => {
    expect(read(fixture('cut'))).toMatchObject({ answer: null, error: null });
  });

  test('a failure says what the host said, also by the response alone, and what it counted', () => {
    expect(read(fixture('failed-midway')).error).toMatchObject({ kind: 'unavailable', code: 'server_error' });
    const failed = {
      error: { code: 'rate_limit_exceeded', message: 'slow' },
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const { error, events } = read(framesOf([{ type: 'response.failed', response: failed }]));
    expect(error).toMatchObject({ kind: 'rate', message: 'slow' });
    expect(events.map(({ kind }) => kind)).toEqual(['usage', 'error']);
  });

  test.each(['nonsense', '{"error":{"message":"no type"}}'])('what is no event is an error: %s', (data) => {
    expect(read(`data: ${data}\n\n`).error).not.toBeNull();
  });

  test('a buffered failure is no answer', () => {
    const failed = Buffer.from('{"status":"failed","output":[],"error":{"code":"server_error","message":"x"}}');
    expect(() => readResponse(failed, {}, () => {})).toThrow(HostResponseBroken);
  });
});

/** The parts of a response that a client of this wire can read. */
function normalForm(events: readonly CanonicalEvent[]): Pick<CanonicalResponse, 'blocks'> & { reason: FinishReason } {
  const fold = new ResponseFold();
  for (const event of events) fold.event(event);
  const { blocks, finish } = fold.answer()!;
  const kept = blocks
    .map((block) => (block.head.kind === 'tool-call' && block.text === '' ? { ...block, text: '{}' } : block))
    .filter(({ text, opaque }) => text !== '' || opaque !== null);
  const completed = kept.some(({ head }) => head.kind === 'tool-call') ? 'tool_calls' : 'stop';
  const isCut = finish.reason === 'length' || finish.reason === 'content_filter';
  return { blocks: kept, reason: isCut ? finish.reason : completed };
}

test('what this wire writes it reads again, opaque reasoning of others included', () => {
  fc.assert(
    fc.property(answers, fc.integer({ min: 1, max: 400 }), (events, pieceBytes) => {
      const writer = writeStream({ ...TERMS, request: {}, outputLimit: 1 });
      const frames = events.map((event) => writer.event(event)).join('') + writer.closing(billFor());
      const { answer } = read(frames, pieceBytes);
      expect({ blocks: answer!.blocks, reason: answer!.finish.reason }).toEqual(normalForm(events));
    }),
    { numRuns: randomCases(200) },
  );
});

test('nothing a host sends makes it throw or break the order of events', () => {
  const names = eventsIn(fixture('reasoning-parallel-tools').toString()).map(({ data }) => data);
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: 1 }), fc.jsonValue(), (some, junk) => {
      expect(() => read(framesOf([...some, { ...some[0]!, item: junk, output_index: junk } as Json]))).not.toThrow();
    }),
    { numRuns: randomCases(200) },
  );
});
