import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BILL, chunk, delta, feedPieces, RELAY_TERMS } from '../../../test/chat-wire.ts';
import { cutBytes } from '../../../test/cut-bytes.ts';
import { expectSame } from '../../../test/expect-same.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { mendStream } from '../chat/mend.ts';
import type { StreamRelay } from '../wire.ts';
import { FrameMemory } from './frame-memory.ts';

type Fields = Record<string, unknown>;

/** The whole result of a stream; the one spelling that a run of frames keeps and the parser changes is normalised. */
function relayed(relay: StreamRelay, pieces: readonly Buffer[]): unknown {
  try {
    const sent = feedPieces(relay, pieces).replaceAll('\\/', '/');
    const { relayedBytes, usage, terminal, error, mayEndHere } = relay;
    return { sent, relayedBytes, usage, terminal, error, mayEndHere, closing: relay.closing(BILL) };
  } catch (error) {
    return (error as Error).message;
  }
}

/** Identities: mostly alike in length, some not, some that no stream should have. */
const id = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom('chatcmpl-aaaa', 'chatcmpl-bbbb', 'chatcmpl-0000', '1790000000', 'created'),
  },
  { weight: 2, arbitrary: fc.constantFrom('chatcmpl-ccccc', 'x', 'quo"te', 'back\\n', 'ümlaut', '', null, 7) },
);
const created = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(1_790_000_000, 1_790_000_001, 1_800_000_000) },
  { weight: 1, arbitrary: fc.constantFrom(17, 17_900_000_000, 1_790_000_000.5, '1790000000', null, 0) },
);

/** Text as it is written in JSON; HALF stands for half a character. */
const spelled = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(' toll', 'a', 'Brücke', '橋', '🛂', 'x'.repeat(40)) },
  { weight: 3, arbitrary: fc.constantFrom('\\n', '\\"', '\\\\', 'a\\/b', '\\u0041', '\\ud83d', '\\u001b', '', 'HALF') },
  { weight: 1, arbitrary: fc.constantFrom('\\",\\"id\\":\\"chatcmpl-aaaa', '1790000000', 'chatcmpl-bbbb') },
);

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: 'WORDS' } };
const OPENING = chunk([delta({ role: 'assistant', content: '' })]);
const TEXT = chunk([delta({ content: 'WORDS' })]);
const END = chunk([delta({}, 'stop')]);
const TOTAL = chunk([], { usage });

/** What most frames are, so that the memory has something to do. */
const USUAL: readonly Fields[] = [
  TEXT,
  chunk([delta({ content: 'WORDS' })], { usage: null, system_fingerprint: 'fp_1' }),
  chunk([delta({ content: 'WORDS' })], { obfuscation: 'PAD' }),
  chunk([delta({ content: 'WORDS' })], { model: 'other' }),
  chunk([delta({ reasoning: 'WORDS' })]),
  chunk([delta({ reasoning_content: 'WORDS', content: null })]),
  chunk([delta({ content: 'WORDS', reasoning_content: null, role: 'assistant' })]),
];
const ENDS: readonly Fields[] = [
  END,
  chunk([delta({}, 'length')]),
  chunk([delta({ content: '', reasoning_content: null }, 'end_turn')], { usage: null }),
  chunk([delta({}, 'stop')], { obfuscation: 'PAD', model: 'other' }),
  chunk([delta({ role: 'assistant' }, 'stop')], { obfuscation: 'PAD' }),
];
/** Frames that resemble them but mean something else, or that the memory must not keep. */
const ODD: readonly Fields[] = [
  chunk([delta({ content: 'WORDS' })], { usage }),
  chunk([delta({ content: 'WORDS' }, 'stop')]),
  chunk([delta({ content: 'WORDS', reasoning: 'WORDS' })]),
  chunk([delta({ content: 'a', reasoning: 'WORDS' })]),
  chunk([delta({ reasoning: 'WORDS' }, 'stop')]),
  chunk([delta({ reasoning: 'WORDS', reasoning_content: 'b' })]),
  chunk([{ ...delta({ content: 'WORDS' }), logprobs: { content: [{ token: 'WORDS' }] } }]),
  chunk([{ ...delta({}, 'stop'), stop_reason: 'WORDS' }]),
  chunk([delta({}, 'stop')], { provider: { obfuscation: 'WORDS' }, obfuscation: 'PAD' }),
  chunk([delta({ content: 'WORDS' })], { provider: { obfuscation: 'PAD' }, obfuscation: 'x' }),
  chunk([delta({ role: 'assistant', content: '' })], { provider: { obfuscation: 'WORDS' }, obfuscation: 'PAD' }),
  chunk([{ ...delta({}), finish_reason: { matched: 'WORDS' } }]),
  chunk([{ ...delta({ content: 'WORDS' }), message: { content: 'whole' } }]),
  chunk([{ index: 0, message: { content: 'WORDS' }, finish_reason: null }]),
  chunk([delta({ content: 'WORDS' }, null, 1)]),
  chunk([delta({}, 'stop', 1)]),
  chunk([delta({ content: 'WORDS' }, null, 'first')]),
  chunk([delta({}, 'stop'), delta({}, 'stop', 1)]),
  chunk([delta({ tool_calls: [call] })]),
  chunk([delta({ tool_calls: [call] }, 'tool_calls')]),
  chunk([delta({ tool_calls: [{ index: 0, function: { arguments: 'WORDS' } }] })]),
  chunk([delta({}, 'error')]),
  chunk([delta({}, '')]),
  chunk([delta({}, 'stop')], { usage }),
  chunk([delta({}, 'stop')], { usage: {} }),
  chunk([delta({ content: 'WORDS' })], { usage: {} }),
  chunk([delta({}, 'stop')], { x_groq: { usage } }),
  TOTAL,
  chunk([delta({ content: 'WORDS' })], { error: { message: 'broken' } }),
  chunk([delta({ content: 'WORDS', id: 'OWN_ID' })]),
  chunk([{ ...delta({}, 'stop'), created: 1_790_000_000 }]),
  chunk([delta({ content: 'WORDS' })], { object: 'chunk', provider: 'host', request: 'OWN_ID' }),
];

/** How a host may misspell a frame: its identity is left out, changed, repeated or written in another way. */
const ODDLY = ['spaced', 'twice', 'twice before', 'other id', 'no id', 'escaped', 'event'];

interface Identity {
  readonly id: unknown;
  readonly created: unknown;
}

function spell(frame: Fields, own: Identity, how: string): string {
  const { id: _id, created: _created, choices, ...rest } = frame;
  const identity = how === 'no id' ? {} : { ...own, ...(how === 'other id' ? { id: 'chatcmpl-zzzz' } : {}) };
  const json = JSON.stringify(
    how === 'identity last' ? { choices, ...rest, ...identity } : { ...identity, ...rest, choices },
  );
  const text = json.replaceAll('"OWN_ID"', JSON.stringify(own.id));
  if (how === 'spaced') return `data: ${text.replaceAll('":', '": ')}`;
  if (how === 'twice') return `data: ${text.slice(0, -1)},"id":"chatcmpl-zzzz"}`;
  if (how === 'twice before') return `data: {"id":"chatcmpl-aaaa",${text.slice(1)}`;
  if (how === 'escaped') return `data: ${text.replace('"id":"c', '"id":"\\u0063')}`;
  return how === 'event' ? `event: error\ndata: ${text}` : `data: ${text}`;
}

/** Half a character is at each place that the text marked. */
function bytesOf(text: string): Buffer {
  const parts = text.split('HALF').map((part) => Buffer.from(part));
  return Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [Buffer.from([0xc3]), part])));
}

const others = fc.constantFrom(': ping', 'data: [DONE]', 'data: {"error":{"message":"broken"}}', 'data: {', '');
const anyFrame = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...USUAL) },
  { weight: 3, arbitrary: fc.constantFrom(...ENDS) },
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: others },
);

interface Told {
  readonly frame: Fields | string;
  readonly how: string;
  readonly words: string;
  readonly padding: string;
}

function told(frame: fc.Arbitrary<Fields | string>, how: string): fc.Arbitrary<Told> {
  const spelling = fc.oneof(
    { weight: 15, arbitrary: fc.constant(how) },
    { weight: 1, arbitrary: fc.constantFrom(...ODDLY) },
  );
  return fc.record({ frame, how: spelling, words: spelled, padding: fc.constantFrom('', 'x', 'xyz') });
}

const mostly = (frames: readonly Fields[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...frames) }, { weight: 1, arbitrary: anyFrame });

const fewOf = (frames: readonly Fields[]) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.subarray([...frames], { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...frames), fc.constantFrom(...ODD)) },
  );

/** A host has its own few kinds of frames, and an order of members. */
const host = fc.record({
  usual: fewOf(USUAL),
  ends: fewOf(ENDS),
  how: fc.constantFrom('identity first', 'identity last'),
});

/** A first frame, a few frames with text, an end, and what comes after it; any of them may be something else. */
const streamsOfOneHost = host.chain(({ usual, ends, how }) => {
  const stream = fc.record({
    own: fc.record({ id, created }),
    opening: told(mostly([OPENING]), how),
    body: fc.array(told(mostly([...usual, ...usual, ...usual, TOTAL]), how), { maxLength: 6 }),
    end: told(mostly(ends), how),
    after: fc.array(told(fc.oneof(fc.constant(TOTAL), anyFrame), how), { maxLength: 3 }),
    lineEnd: fc.oneof({ weight: 8, arbitrary: fc.constant('\n') }, fc.constantFrom('\r\n', '\r')),
    cuts: fc.array(fc.nat(4000), { maxLength: 8 }),
  });
  return fc.array(
    stream.map(({ own, opening, body, end, after, lineEnd, cuts }) => {
      const frames = [opening, ...body, end, ...after].map((frame) => textOf(frame, own, lineEnd));
      return cutBytes(bytesOf(frames.join('')), cuts);
    }),
    { minLength: 2, maxLength: 6 },
  );
});

function textOf({ frame, how, words, padding }: Told, own: Identity, lineEnd: string): string {
  const text = typeof frame === 'string' ? frame : spell(frame, own, how);
  const said = text.replaceAll('WORDS', words).replaceAll('PAD', padding);
  return said.replaceAll('\n', lineEnd) + lineEnd + lineEnd;
}

/** Whether the memory was used. */
function comesToTheSame(streams: readonly (readonly Buffer[])[], hideReasoning: boolean): boolean {
  const memory = new FrameMemory();
  const terms = { ...RELAY_TERMS, hideReasoning };
  for (const pieces of streams) {
    const parsed = relayed(mendStream({ ...terms, parseEveryFrame: true }), pieces);
    expectSame(relayed(mendStream({ ...terms, memory }), pieces), parsed);
    expectSame(relayed(mendStream(terms), pieces), parsed);
  }
  return memory.used > 0;
}

test('streams of one host, with and without reasoning, come to the same with the frame memory as when every frame is parsed', () => {
  const runs = randomCases(2000);
  const helped = { with: 0, without: 0 };
  fc.assert(
    fc.property(streamsOfOneHost, (streams) => {
      if (comesToTheSame(streams, false)) helped.with++;
      if (comesToTheSame(streams, true)) helped.without++;
    }),
    { numRuns: runs },
  );
  expect(Math.min(helped.with, helped.without)).toBeGreaterThan(runs / 4);
});
