import fc from 'fast-check';
import { describe, test } from 'vitest';
import { BILL, chunk, delta, feedPieces, RELAY_TERMS } from '../../../test/chat-wire.ts';
import { cutBytes } from '../../../test/cut-bytes.ts';
import { expectSame } from '../../../test/expect-same.ts';
import { randomCases } from '../../../test/random-cases.ts';
import type { UsageReading } from '../../canonical/usage.ts';
import { mendStream } from '../chat/mend.ts';
import { completions } from '../completions/index.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';

interface Relayed {
  readonly sent: string;
  readonly closing: string;
  readonly relayedBytes: number;
  readonly usage: UsageReading;
  readonly terminal: boolean;
}

function relayed(relay: StreamRelay, pieces: readonly Buffer[]): Relayed {
  const sent = feedPieces(relay, pieces);
  const { relayedBytes, usage, terminal } = relay;
  return { sent, closing: relay.closing(BILL), relayedBytes, usage, terminal };
}

/** Text as it is written in JSON: plain, escaped in every way, and forms that only the parser can judge. */
const spelled = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(' toll', 'a', 'Brücke', '橋', '🛂', 'x'.repeat(40)) },
  { weight: 2, arbitrary: fc.constantFrom('\\n', '\\"', '\\\\', 'a\\/b', '\\u0041', '\\ud83d', '\\u00fc', '') },
  { weight: 1, arbitrary: fc.constant('HALF') },
);

const WORDS = 'WORDS';
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

const CHAT_SHAPES: readonly object[] = [
  chunk([delta({ content: WORDS })]),
  chunk([delta({ content: WORDS })], { obfuscation: 'PAD' }),
  chunk([delta({ content: WORDS })], { model: 'other', usage: null }),
  chunk([delta({ reasoning: WORDS })]),
  chunk([delta({ reasoning_content: WORDS, content: null })]),
  chunk([delta({ tool_calls: [{ index: 0, function: { arguments: WORDS } }] })]),
  chunk([delta({ content: WORDS }, null, 1)]),
];
const CHAT_ENDS: readonly object[] = [
  chunk([delta({ role: 'assistant', content: '' })]),
  chunk([delta({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] })]),
  chunk([delta({}, 'stop')]),
  chunk([], { usage }),
];

const text = (words: string, index = 0, reason: string | null = null) => {
  return { index, text: words, logprobs: null, finish_reason: reason };
};
const said = (choices: readonly object[], more: object = {}) => {
  return { id: 'cmpl-1', object: 'text_completion', created: 1_790_000_000, model: 'bridge', choices, ...more };
};
const TEXT_SHAPES = [said([text(WORDS)]), said([text(WORDS)], { model: 'other' }), said([text(WORDS, 1)])];
const TEXT_ENDS = [said([text('', 0, 'stop')]), said([], { usage })];

/** Frames as bytes: runs of one shape, with other frames between them. */
function streams(shapes: readonly object[], ends: readonly object[], lineEnd: fc.Arbitrary<string>) {
  const runs = fc
    .tuple(
      fc.constantFrom(...shapes),
      fc.array(fc.tuple(spelled, fc.constantFrom('', 'x', 'xyz')), { minLength: 1, maxLength: 8 }),
    )
    .map(([shape, frames]) =>
      frames.map(([words, padding]) =>
        `data: ${JSON.stringify(shape)}`.replaceAll(WORDS, words).replaceAll('PAD', padding),
      ),
    );
  const others = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ends).map((end) => [`data: ${JSON.stringify(end)}`]) },
    { weight: 2, arbitrary: fc.constantFrom([': ping'], ['']) },
    { weight: 1, arbitrary: fc.constantFrom(['data: [DONE]'], ['data: {"error":{"message":"broken"}}'], ['data: {']) },
  );
  const blocks = fc.array(fc.oneof({ weight: 4, arbitrary: runs }, { weight: 1, arbitrary: others }), { maxLength: 8 });
  return fc.tuple(blocks, lineEnd).map(([frames, end]) => frames.flat().map((frame) => bytesOf(frame, end)));
}

/** Half a character is at each place that the text marked. */
function bytesOf(frame: string, lineEnd: string): Buffer {
  const written = frame === '' ? lineEnd : frame + lineEnd + lineEnd;
  const [before, after] = written.split('HALF');
  return after === undefined
    ? Buffer.from(written)
    : Buffer.concat([Buffer.from(before!), Buffer.from([0xc3]), Buffer.from(after)]);
}

const RELAYS: readonly [string, (terms: RelayTerms) => StreamRelay, readonly object[], readonly object[]][] = [
  ['chat', mendStream, CHAT_SHAPES, CHAT_ENDS],
  ['completions', completions.relay.stream!.mend, TEXT_SHAPES, TEXT_ENDS],
];

const cuts = fc.array(fc.nat(5000), { maxLength: 12 });
const terms = fc.boolean().map((hideReasoning) => ({ ...RELAY_TERMS, hideReasoning }));

describe.each(RELAYS)('a stream of %s', (_name, open, shapes, ends) => {
  test('comes to the same however its host’s bytes are cut', () => {
    fc.assert(
      fc.property(streams(shapes, ends, fc.constant('\n')), cuts, terms, (frames, places, asked) => {
        const byFrame = relayed(open(asked), frames);
        const bytes = Buffer.concat(frames);
        expectSame(relayed(open(asked), [bytes]), byFrame);
        expectSame(relayed(open(asked), cutBytes(bytes, places)), byFrame);
      }),
      { numRuns: randomCases(1000) },
    );
  });

  test('says the same as if every frame were parsed, whatever its line ends', () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(streams(shapes, ends, lineEnd), cuts, terms, (frames, places, asked) => {
        const { sent, ...read } = relayed(open({ ...asked, parseEveryFrame: true }), frames);
        const { sent: sentInRuns, ...inRuns } = relayed(open(asked), cutBytes(Buffer.concat(frames), places));
        expectSame(inRuns, read);
        expectSame(chunksOf(sentInRuns), chunksOf(sent));
      }),
      { numRuns: randomCases(1000) },
    );
  });
});

/** A client does not tell line ends apart, nor how many are between two frames. */
function chunksOf(sent: string): unknown[] {
  const lines = sent.split(/[\r\n]+/).filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
}
