import { describe, expect, test } from 'vitest';
import { chunk, delta, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { type SseFrame, SseFrameTooLarge } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import { FrameMemory } from '../frames/frame-memory.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { mendStream } from './mend.ts';

type Fields = Record<string, unknown>;
type Open = (terms: RelayTerms) => StreamRelay;

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const opening = chunk([delta({ role: 'assistant', content: '' })]);
const said = (content: string, more: Fields = {}) => chunk([delta({ content })], more);
const stopped = chunk([delta({}, 'stop')]);
const usageFrame = chunk([], { usage: USAGE });

function withinChoice(frame: Fields, more: Fields): Fields {
  return { ...frame, choices: [{ ...(frame.choices as Fields[])[0], ...more }] };
}

/** Frames of one stream: each with this stream's id and creation time. */
function streamOf(number: number, ...frames: readonly Fields[]): string {
  const own = { id: `chatcmpl-${number}`, created: 1_790_000_000 + number };
  return sse(...frames.map((frame) => ({ ...frame, ...own })), '[DONE]');
}

interface Relayed {
  readonly sent: string;
  readonly relay: StreamRelay;
  /** The frames that were parsed. */
  readonly read: readonly string[];
}

function relayed(open: Open, memory: FrameMemory | null, text: string, more: Partial<RelayTerms> = {}): Relayed {
  const relay = open({ ...RELAY_TERMS, ...more, ...(memory === null ? {} : { memory }) });
  const read: string[] = [];
  const frame = relay.frame.bind(relay);
  Object.defineProperty(relay, 'frame', {
    value: (one: SseFrame) => {
      read.push(one.data ?? '');
      return frame(one);
    },
  });
  return { sent: feed(relay, text), relay, read };
}

/** Every byte that a memory keeps alive, also what its buffers lie in. */
function bytesKept(value: unknown): string {
  if (Buffer.isBuffer(value)) return Buffer.from(value.buffer).toString('latin1');
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(bytesKept).join('\n');
}

const RELAYS: readonly [string, Open, Partial<RelayTerms>][] = [
  ['mended', mendStream, {}],
  ['mended under another name of the model', mendStream, { catalogModel: 'other/bridge' }],
];

describe.each(RELAYS)('%s streams of one host', (_name, open, more) => {
  const usual = (number: number) =>
    streamOf(number, opening, said(' one'), said(' zwölf'), said('three'), stopped, usageFrame);

  test('are not parsed but for their usage, once one has taught the rest', () => {
    const memory = new FrameMemory();
    expect(relayed(open, memory, usual(1), more).read).toHaveLength(5);
    const { sent, relay, read } = relayed(open, memory, usual(2), more);
    expect(read).toHaveLength(2);
    expect(JSON.parse(read[0]!)).toMatchObject({ id: 'chatcmpl-2', choices: [], usage: usageFrame.usage });
    expect(sent).toBe(relayed(open, null, usual(2), more).sent);
    expect(relay.usage).toMatchObject({ state: 'reported', usage: { freshTokens: 9, outputTokens: 4 } });
    expect(relay.relayedBytes).toBe(' one zwölfthree'.length + 1);
  });

  test('have each their own id and creation time, whatever the words say of others', () => {
    const memory = new FrameMemory();
    relayed(open, memory, usual(1), more);
    const text = streamOf(2, opening, said('"id":"chatcmpl-1"'), said('1790000001'), stopped);
    const { sent, read } = relayed(open, memory, text, more);
    expect(read).toEqual(['[DONE]']);
    expect(sent).toBe(relayed(open, null, text, more).sent);
  });

  test('end once, however often the host says so', () => {
    const memory = new FrameMemory();
    relayed(open, memory, usual(1), more);
    const text = streamOf(2, opening, said('x'), stopped, stopped, usageFrame, said('y'));
    const { sent, relay, read } = relayed(open, memory, text, more);
    const alone = relayed(open, null, text, more);
    expect(read.filter((data) => data.includes('"stop"'))).toHaveLength(1);
    expect([sent, relay.usage]).toEqual([alone.sent, alone.relay.usage]);
  });

  test('end where the host pads its frames, with the padding of each', () => {
    const padded = (number: number, padding: string) =>
      streamOf(
        number,
        opening,
        said('x', { obfuscation: `${padding}1` }),
        chunk([delta({}, 'length')], { obfuscation: padding, usage: null }),
      );
    const memory = new FrameMemory();
    relayed(open, memory, padded(1, 'abc'), more);
    const { sent, read } = relayed(open, memory, padded(2, 'qrstu'), more);
    expect(read).toEqual(['[DONE]']);
    expect(sent).toBe(relayed(open, null, padded(2, 'qrstu'), more).sent);
  });

  test('are not recognised where one is larger than a frame may be, so that it is measured and refused', () => {
    const memory = new FrameMemory();
    const padded = (number: number, padding: string) =>
      streamOf(number, opening, { ...stopped, obfuscation: padding }).replace('data: [DONE]\n\n', '');
    relayed(open, memory, padded(1, 'abc'), more);
    const large = padded(2, 'x'.repeat(LIMITS.sseFrameBytesMax));
    expect(() => relayed(open, memory, large, more)).toThrow(SseFrameTooLarge);
  });

  test.each([
    ['no plain text', (text: string) => text.replaceAll('chatcmpl-2', 'chat\\u0063-2')],
    ['no plain time', (text: string) => text.replaceAll('1790000002', '0790000002')],
    ['another shape', (text: string) => text.replace('"role":"assistant"', '"role":"developer"')],
    ['nothing', (text: string) => text.slice(text.indexOf('data: [DONE]'))],
  ])('are read from their beginning where it is %s', (_what, changed) => {
    const memory = new FrameMemory();
    relayed(open, memory, usual(1), more);
    const text = changed(usual(2));
    const alone = relayed(open, null, text, more);
    const { sent, relay, read } = relayed(open, memory, text, more);
    expect([sent, relay.error, relay.usage]).toEqual([alone.sent, alone.relay.error, alone.relay.usage]);
    expect(read[0]).toBe(alone.read[0]);
  });

  test('are not helped with a frame that has the id of another', () => {
    const memory = new FrameMemory();
    relayed(open, memory, usual(1), more);
    const text = streamOf(2, opening).replace('data: [DONE]\n\n', streamOf(3, said('x'), stopped));
    const { sent, read } = relayed(open, memory, text, more);
    expect(read).toHaveLength(3);
    expect(sent).toBe(relayed(open, null, text, more).sent);
  });

  test('are not helped with the patterns of longer ids', () => {
    const memory = new FrameMemory();
    const own = (id: string, frame: Fields) => ({ ...frame, id, created: 1_790_000_001 });
    relayed(open, memory, sse(own('plain-01', opening), own('plain-01', said('x')), own('plain-01', stopped)), more);
    const text = sse(own('short', opening), own('short000', said('x')), own('short000', stopped));
    const { sent, read } = relayed(open, memory, text, more);
    expect(read).toHaveLength(3);
    expect(sent).toBe(relayed(open, null, text, more).sent);
  });

  test.each(['quo"te-1', 'back\\-01', 'ümlaut-1'])('take nothing from others if their id is %s', (id) => {
    const memory = new FrameMemory();
    relayed(open, memory, streamOf(1, opening, said('x'), stopped).replaceAll('chatcmpl-1', 'plain-01'), more);
    // This is not JSON, but a comparison of the bytes alone would let it pass.
    const wrong = Buffer.from(sse(said('x', { created: 1_790_000_001 })).replace('chatcmpl-1', id), 'latin1');
    const text = Buffer.concat([Buffer.from(sse({ ...opening, id, created: 1_790_000_001 })), wrong]);
    const one = open({ ...RELAY_TERMS, ...more, memory });
    const other = open({ ...RELAY_TERMS, ...more });
    expect(feed(one, text)).toBe(feed(other, text));
    expect([one.error, memory.used]).toEqual([other.error, 0]);
  });

  test('teach nothing from frames of another answer, of tool calls, of usage, or of two times', () => {
    const memory = new FrameMemory();
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } };
    const calling = chunk([delta({ tool_calls: [call] })]);
    const second = (frame: Fields) => withinChoice(frame, { index: 1 });
    const streams = [
      [opening, second(stopped)],
      [opening, second(opening), second(said('x'))],
      [opening, said('', { usage: USAGE }), said('x', { usage: USAGE }), { ...stopped, usage: USAGE }],
      [second(opening), second(said('x')), second(stopped)],
      [opening, ...[said('x'), stopped].map((frame) => withinChoice(frame, { created: 1_790_000_001 }))],
      [opening, withinChoice(calling, { finish_reason: 'tool_calls' })],
    ];
    for (const frames of streams) relayed(open, memory, streamOf(1, ...frames), more);
    expect([memory.words, memory.ends]).toEqual([[], []]);
  });
});

describe('parsing every frame', () => {
  test('leaves no frame of a stream to its bytes, and sends and counts the same', () => {
    const words = ['one', 'two', 'three', 'four'].map((content) => said(content));
    const text = streamOf(1, opening, ...words, stopped, usageFrame);
    const parsed = relayed(mendStream, null, text, { parseEveryFrame: true });
    const quick = relayed(mendStream, null, text);
    expect(parsed.read).toHaveLength(8);
    expect(quick.read.length).toBeLessThan(8);
    expect(parsed.sent).toBe(quick.sent);
    expect(parsed.relay.usage).toEqual(quick.relay.usage);
    expect(parsed.relay.relayedBytes).toBe(quick.relay.relayedBytes);
  });
});

describe('a memory of frames', () => {
  test('keeps a few of them, however many kinds a host has', () => {
    const memory = new FrameMemory();
    const oneOf = (kind: number, number: number) => {
      const more = { system_fingerprint: `fp_${kind}` };
      const frames = [opening, said('x'), said('y'), stopped].map((frame) => ({ ...frame, ...more }));
      return streamOf(number % 10, ...frames);
    };
    for (let kind = 0; kind < 40; kind++) for (let at = 0; at < 30; at++) relayed(mendStream, memory, oneOf(kind, at));
    const kept = [memory.openings, memory.words, memory.ends].map(({ length }) => length);
    expect(kept).toEqual(Array(3).fill(LIMITS.cachedFramesMax));
    expect(memory.words.at(-1)!.seam.bytes.toString()).toContain('fp_39');
  });

  test('keeps none that is large', () => {
    const memory = new FrameMemory();
    const more = { system_fingerprint: 'f'.repeat(LIMITS.cachedFrameBytesMax) };
    const padded = { ...more, obfuscation: 'xyz' };
    const frames = [said('x', more), said('x', padded), { ...stopped, ...more }];
    relayed(mendStream, memory, streamOf(1, { ...opening, ...more }, ...frames));
    expect([memory.openings, memory.words, memory.ends]).toEqual([[], [], []]);
  });

  test('keeps one of two frames that are alike', () => {
    const memory = new FrameMemory();
    for (const number of [1, 2, 3]) {
      relayed(mendStream, memory, streamOf(number, opening, said('\u001b'), said('\u001b'), stopped));
    }
    expect([memory.openings.length, memory.words.length, memory.ends.length]).toEqual([1, 1, 1]);
  });

  const SECRET = 'sesame';
  const hidden = `{"content":"${SECRET}"}`;
  const around = (frame: Fields, ...more: readonly Fields[]) => streamOf(1, opening, frame, ...more);
  test.each([
    ['the words', around(said(SECRET), said(SECRET), stopped)],
    ['words of the opening', streamOf(1, said(SECRET), said('x'), stopped)],
    ['a trace of the opening', streamOf(1, chunk([delta({ role: 'assistant', reasoning: SECRET })]), stopped)],
    ['what else an opening says', streamOf(1, { ...opening, prompt_filter_results: [SECRET] }, said('x'))],
    ['a trace', around(chunk([delta({ reasoning: SECRET })]), stopped)],
    ['a trace beside the words', around(chunk([delta({ content: 'x', reasoning: SECRET })]))],
    ['a trace of two minds', around(chunk([delta({ reasoning: 'x', reasoning_content: SECRET })]))],
    ['a trace at the end', around(chunk([delta({ reasoning: SECRET }, 'stop')]))],
    ['details of a trace', around(chunk([delta({ reasoning: SECRET, reasoning_details: [{ text: SECRET }] })]))],
    ['tokens', around(chunk([{ ...delta({ content: 'x' }), logprobs: { content: [{ token: SECRET }] } }]))],
    ['tokens at the end', around(chunk([{ ...delta({}, 'stop'), logprobs: { content: [{ token: SECRET }] } }]))],
    ['what the caller wanted to stop at', around(chunk([{ ...delta({}, 'stop'), stop_reason: SECRET }]))],
    ['a message beside the delta', around(chunk([{ ...delta({}, 'stop'), message: { content: SECRET } }]))],
    ['what lies in a finish reason', around(chunk([{ ...delta({}), finish_reason: { matched: SECRET } }]))],
    ['what lies in a role', around(chunk([delta({ content: 'x', role: { name: SECRET } })]))],
    ['what lies in the name of a host', around({ ...stopped, provider: { obfuscation: SECRET }, obfuscation: 'x' })],
    ['arguments', around(chunk([delta({ tool_calls: [{ index: 0, function: { arguments: SECRET } }] })]))],
    ['members nobody knows', around(said('x', { echo: SECRET }), { ...stopped, citations: [SECRET] })],
    [
      'something other than a choice',
      around(chunk([SECRET, delta({ content: 'x' })]), chunk([SECRET, delta({}, 'stop')])),
    ],
    ['words said twice', around(said('x')).replace('{"content":"x"}', `${hidden},"delta":{"content":"x"}`)],
    ['words said twice at the end', around(stopped).replace('"delta":{}', `"delta":${hidden},"delta":{}`)],
    ['a comment', around(said('x')).replaceAll('data: ', `: ${SECRET}\ndata: `)],
    ['padding', around(said('x', { obfuscation: SECRET }), { ...stopped, obfuscation: SECRET })],
    ['the id of a stream', around(said('x'), stopped).replaceAll('chatcmpl-1', SECRET)],
  ])('never keeps %s', (_what, text) => {
    for (const [, open, more] of RELAYS) {
      for (const hideReasoning of [false, true]) {
        const memory = new FrameMemory();
        relayed(open, memory, text, { ...more, hideReasoning });
        expect(bytesKept([memory.openings, memory.words, memory.ends])).not.toContain(SECRET);
      }
    }
  });
});
