import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamFaults } from '../../../test/chat-conformity.ts';
import { BILL, chunksIn, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { expectSame } from '../../../test/expect-same.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { eventsOf } from '../../../test/raw-client.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { writeStreamError } from '../errors/envelope.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { mendStream } from './mend.ts';

/** What the client gets in the end, as the gateway would write it, and how it ended. */
function endOf(relay: StreamRelay): { text: string; ended: 'complete' | 'error' } {
  if (relay.error === null && (relay.terminal || relay.mayEndHere))
    return { text: relay.closing(BILL), ended: 'complete' };
  return { text: writeStreamError(new GatewayError('host_failed', { message: 'broken' })), ended: 'error' };
}

/** Members as hosts send them, and sometimes arbitrary values instead. */
const anything = fc.jsonValue({ maxDepth: 2 });
const mostly = <T>(sane: fc.Arbitrary<T>, hostility: number): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 100 - hostility, arbitrary: sane as fc.Arbitrary<unknown> },
    { weight: hostility, arbitrary: anything },
  );

function hostChunks(hostility: number): fc.Arbitrary<Record<string, unknown>> {
  const maybe = <T>(sane: fc.Arbitrary<T>) => mostly(sane, hostility);
  const words = fc.oneof(
    fc.constantFrom('a', ' toll', '\n', '"', '\\', 'ü', '🛂', ''),
    fc.string({ unit: 'grapheme', maxLength: 5 }),
  );
  const called = fc.record(
    { name: maybe(fc.constantFrom('open', 'close', '')), arguments: maybe(words) },
    { requiredKeys: [] },
  );
  const call = fc.record(
    {
      index: maybe(fc.integer({ min: 0, max: 3 })),
      id: maybe(fc.constantFrom('c1', 'c2', '')),
      type: maybe(fc.constant('function')),
      function: maybe(called),
    },
    { requiredKeys: [] },
  );
  const parts = fc.array(
    maybe(
      fc.oneof(
        words.map((text) => ({ type: 'text', text })),
        words.map((text) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })),
      ),
    ),
    { maxLength: 3 },
  );
  const delta = fc.record(
    {
      role: maybe(fc.constant('assistant')),
      content: maybe(
        fc.oneof({ weight: 6, arbitrary: words as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: parts }),
      ),
      refusal: maybe(fc.oneof(words, fc.constant(null))),
      reasoning: maybe(words),
      reasoning_content: maybe(words),
      reasoning_details: maybe(words.map((text) => [{ type: 'reasoning.text', text }])),
      tool_calls: maybe(fc.array(maybe(call), { maxLength: 3 })),
    },
    { requiredKeys: [] },
  );
  const choice = fc.record(
    {
      index: maybe(fc.constantFrom(0, 0, 0, 0, 1, 2)),
      delta: maybe(delta),
      message: maybe(fc.record({ role: fc.constant('assistant'), content: words })),
      finish_reason: maybe(fc.constantFrom(null, null, null, 'stop', 'length', 'tool_calls', 'end_turn', '')),
      logprobs: maybe(fc.constant(null)),
    },
    { requiredKeys: [] },
  );
  return fc.record(
    {
      id: maybe(fc.constantFrom('chatcmpl-1', 'chatcmpl-1', 'chatcmpl-2', '')),
      object: maybe(fc.constant('chat.completion.chunk')),
      created: maybe(fc.constantFrom(1_790_000_000, 1_790_000_001, 0)),
      model: maybe(fc.constantFrom('bridge', 'bridge-2026', '')),
      choices: maybe(fc.array(maybe(choice), { maxLength: 2 })),
      usage: maybe(fc.constantFrom(null, null, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })),
      x_groq: maybe(fc.constant({ id: 'req_1' })),
      provider: maybe(fc.constant('Somebody')),
    },
    { requiredKeys: ['choices'] },
  );
}

const terms: fc.Arbitrary<RelayTerms> = fc
  .record({ wantsUsageFrame: fc.boolean(), hideReasoning: fc.boolean() })
  .map((wishes) => ({ ...RELAY_TERMS, ...wishes }));
const piece = fc.integer({ min: 1, max: 300 });

function expectConforming(events: readonly unknown[], relayTerms: RelayTerms, pieceBytes: number): void {
  const relay = mendStream(relayTerms);
  const sent = feed(relay, sse(...events), pieceBytes);
  const { text, ended } = endOf(relay);
  const conformity = { model: relayTerms.catalogModel, wantsUsage: relayTerms.wantsUsageFrame, ended };
  expectSame(streamFaults(eventsOf(sent + text), conformity), []);
  expectSame(
    sent.split(/[\r\n]/).filter((line) => line !== '' && !line.startsWith('data: {')),
    [],
  );
  if (relayTerms.hideReasoning && sent.includes('"reasoning')) expect(sent).not.toContain('"reasoning');
}

const done = fc.constantFrom([], ['[DONE]']);

describe('whatever a host sends, the client gets a conforming stream', () => {
  test('of plausible chunks', () => {
    fc.assert(
      fc.property(fc.array(hostChunks(0), { maxLength: 25 }), done, terms, piece, (chunks, end, wishes, pieceBytes) => {
        expectConforming([...chunks, ...end], wishes, pieceBytes);
      }),
      { numRuns: randomCases(1500) },
    );
  });

  test('of hostile chunks', () => {
    const event = fc.oneof(
      { weight: 9, arbitrary: hostChunks(12) as fc.Arbitrary<unknown> },
      { weight: 1, arbitrary: anything },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), done, terms, piece, (events, end, wishes, pieceBytes) => {
        expectConforming([...events.map((one) => JSON.stringify(one)), ...end], wishes, pieceBytes);
      }),
      { numRuns: randomCases(1500) },
    );
  });

  test('of bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), piece, (frames, pieceBytes) => {
        const relay = mendStream(RELAY_TERMS);
        const bytes = Buffer.concat(frames.flatMap((frame) => [Buffer.from('data: '), frame, Buffer.from('\n\n')]));
        expect(feed(relay, bytes, pieceBytes)).toBe('');
      }),
      { numRuns: randomCases(500) },
    );
  });
});

/** Streams of a few shapes whose frames differ in words only, as real ones do. */
const WORDS = fc.array(
  fc.oneof(
    fc.constantFrom(' the', ' toll', '\n', ' "a"', '\\', '\t', 'ü', '橋', ' 🛂', '\u2028', '\u0007', 'é'),
    fc.string({ maxLength: 6 }),
  ),
  { minLength: 1, maxLength: 12 },
);
const repetitive = fc
  .record({
    words: WORDS,
    trace: WORDS,
    args: WORDS,
    padded: fc.boolean(),
    model: fc.constantFrom('bridge', 'host-1'),
    answers: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ words, trace, args, padded, model, answers }) => {
    const chunk = (delta: object, index: number, more: object = {}) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model,
      choices: [{ index, delta, logprobs: null, finish_reason: null }],
      usage: null,
      ...(padded && { obfuscation: 'x'.repeat(words.length % 7) }),
      ...more,
    });
    const indexes = Array.from({ length: answers }, (_, index) => index);
    const each = (texts: readonly string[], delta: (text: string) => object) =>
      texts.flatMap((text) => indexes.map((index) => chunk(delta(text), index)));
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'open', arguments: '' } };
    return [
      ...indexes.map((index) => chunk({ role: 'assistant', content: '' }, index)),
      ...each(trace, (reasoning) => ({ reasoning })),
      ...each(words, (content) => ({ content })),
      ...indexes.map((index) => chunk({ tool_calls: [call] }, index)),
      ...each(args, (text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
      ...indexes.map((index) => chunk({ tool_calls: [{ ...call, id: 'c2' }] }, index)),
      ...each(args, (text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    ];
  });

describe('a frame like an earlier one', () => {
  test('is treated as if it had been read', () => {
    fc.assert(
      fc.property(repetitive, terms, (events, wishes) => {
        const quick = mendStream(wishes);
        const slow = mendStream(wishes);
        const quickly = chunksIn(feed(quick, sse(...events)));
        // A number that always differs keeps frames from repeating.
        const slowly = chunksIn(feed(slow, sse(...events.map((event, at) => ({ ...event, own: at })))));
        const expected = slowly.map(({ own: _, ...chunk }) => chunk);
        expectSame(quickly, expected);
        expectSame(quick.relayedBytes, slow.relayedBytes);
      }),
      { numRuns: randomCases(500) },
    );
  });
});
