import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { BILL, chunksIn, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { completionFaults, textsOf } from '../../../test/completions-conformity.ts';
import { randomCases } from '../../../test/random-cases.ts';
import { ownRecordings } from '../../../test/small-wires.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { mendStream } from './mend.ts';

const PIECES = [1_000_000, 64, 7, 1];
const STREAMS = ownRecordings('completions').filter(({ mode, id }) => mode === 'stream' && !id.startsWith('error'));

const streamOf = (id: string): Buffer => ownRecordings('completions').find((one) => one.id === id)!.body;

interface Relayed {
  readonly text: string;
  readonly relay: StreamRelay;
}

function relayed(body: string | Buffer, more: Partial<RelayTerms> = {}, piece?: number): Relayed {
  const relay = mendStream({ ...RELAY_TERMS, ...more });
  const sent = feed(relay, body, piece);
  return { text: sent + relay.closing(BILL), relay };
}

describe('every stream', () => {
  test.each(STREAMS)('$id: $covers', ({ body, usage }) => {
    for (const wantsUsageFrame of [true, false]) {
      for (const piece of PIECES) {
        const { text, relay } = relayed(body, { wantsUsageFrame }, piece);
        expect(completionFaults(text, { model: 'bridge', wantsUsage: wantsUsageFrame })).toEqual([]);
        expect(textsOf(text)).toEqual(textsOf(body.toString()));
        expect(relay.terminal || relay.mayEndHere).toBe(true);
        expect(relay.usage).toMatchObject({
          state: 'reported',
          usage: { freshTokens: usage!.prompt_tokens, outputTokens: usage!.completion_tokens },
        });
        const words = Object.values(textsOf(text)).join('');
        expect(relay.relayedBytes).toBe(Buffer.byteLength(words));
      }
    }
  });

  test('tells the billed usage, and nothing of the host’s bill', () => {
    const { text } = relayed(streamOf('streamed-careless'));
    expect(chunksIn(text).at(-1)!.usage).toEqual({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
  });

  test('keeps the members of an engine, and both its log probabilities', () => {
    const { text } = relayed(streamOf('streamed-engine'));
    expect(text).toContain('"stop_reason":"."');
    expect(text).toContain('"prompt_logprobs":null');
  });

  test('passes on a frame that needs no change byte for byte', () => {
    const frame =
      'data: {"id":"cmpl-1","object":"text_completion","created":1790000000, "model":"bridge","choices":[{"text":"\\u0041","index":0,"logprobs":null,"finish_reason":null}],"usage":null}\n\n';
    expect(feed(mendStream(RELAY_TERMS), frame)).toBe(frame);
  });

  test('sends nothing for a frame that has nothing left to say', () => {
    const texts = chunksIn(relayed(streamOf('streamed-careless')).text).map(({ choices }) => choices);
    expect(texts).toMatchObject([[{ text: ' yes' }], [{ text: '', finish_reason: 'stop' }], []]);
  });

  test('rewrites a frame that has more than its data line', () => {
    const chunk = {
      id: 'c',
      object: 'text_completion',
      created: 1,
      model: 'bridge',
      choices: [{ text: 'a', index: 0, logprobs: null, finish_reason: null }],
      usage: null,
    };
    for (const extra of ['event: completion\n', 'id: 7\n', ': note\n']) {
      expect(feed(mendStream(RELAY_TERMS), `${extra}${sse(chunk)}`)).toBe(sse(chunk));
    }
  });

  test('invents an id, a time and an end where the host forgot them', () => {
    const { text } = relayed(sse({ choices: [{ text: 'a' }] }, '[DONE]'));
    const [first, end] = chunksIn(text);
    expect(first).toMatchObject({
      id: 'cmpl-req_1',
      created: 1_700_000_000,
      choices: [{ index: 0, finish_reason: null }],
    });
    expect(end).toMatchObject({ choices: [{ text: '', finish_reason: 'stop' }], usage: null });
    expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
  });

  test('leaves out a trace that is not wanted', () => {
    const body = sse({ choices: [{ text: 'a', index: 0, reasoning: 'hm', finish_reason: 'stop' }] }, '[DONE]');
    expect(relayed(body).text).toContain('hm');
    expect(relayed(body, { hideReasoning: true }).text).not.toContain('hm');
  });
});

describe('usage', () => {
  const words = (text: string, more: object = {}) => ({ choices: [{ text, index: 0, finish_reason: null }], ...more });
  const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };

  test('before the last text is only partial', () => {
    const relay = mendStream(RELAY_TERMS);
    feed(relay, sse(words('a', { usage }), words('b')));
    expect(relay.usage.state).toBe('partial');
    feed(relay, sse('[DONE]'));
    expect(relay.usage.state).toBe('partial');
  });

  test('that never came is missing; counts nobody can bill say why', () => {
    expect(relayed(sse(words('a'), '[DONE]')).relay.usage).toEqual({ state: 'missing' });
    const broken = relayed(sse(words('a'), { choices: [], usage: { ...usage, completion_tokens: -1 } }, '[DONE]'));
    expect(broken.relay.usage).toEqual({ state: 'missing', defect: "the host's output tokens are not a valid count" });
  });

  test.each([[{}], [[]], ['none'], [{ prompt_tokens: -1, completion_tokens: 2 }]])(
    '%j does not replace counts that can be billed',
    (bad) => {
      const [good, late] = [usage, bad].map((counts) => ({ choices: [], usage: counts }));
      const readingOf = (...events: object[]) => relayed(sse(words('a'), ...events, '[DONE]')).relay.usage;
      const counts = expect.objectContaining({ freshTokens: 4, outputTokens: 2 });
      expect(readingOf(late!)).toEqual({ state: 'missing', defect: expect.any(String) });
      expect(readingOf(good!, late!)).toEqual({ state: 'partial', usage: counts, defect: expect.any(String) });
      expect(readingOf(good!, late!, good!)).toEqual({ state: 'reported', usage: counts });
      expect(readingOf(late!, good!)).toEqual({ state: 'reported', usage: counts });
    },
  );

  test('has its cached part apart', () => {
    const cached = { ...usage, prompt_tokens_details: { cached_tokens: 3 } };
    const { relay } = relayed(sse(words('a'), { choices: [], usage: cached }, '[DONE]'));
    expect(relay.usage).toMatchObject({ usage: { freshTokens: 1, cacheReadTokens: 3, outputTokens: 2 } });
  });
});

describe('a host that breaks off', () => {
  test('with an error and its usage is believed about both', () => {
    const relay = mendStream(RELAY_TERMS);
    feed(relay, streamOf('error-mid-stream'));
    expect(relay).toMatchObject({ terminal: true, error: { kind: 'rate', status: 429 } });
    expect(relay.error!.message).toContain('***');
    expect(relay.usage).toMatchObject({ state: 'reported', usage: { outputTokens: 1 } });
  });

  test.each([
    ['a frame that is not JSON', 'data: {"choices":[\n\n'],
    ['a named error', 'event: error\ndata: {"message":"gone"}\n\n'],
    ['an answer that ends in an error', sse({ choices: [{ text: '', index: 0, finish_reason: 'error' }] })],
    ['an answer that an engine aborted', sse({ choices: [{ text: 'Hal', index: 0, finish_reason: 'abort' }] })],
    ['an end without an answer', sse('[DONE]')],
  ])('by %s has failed', (_, body) => {
    const relay = mendStream(RELAY_TERMS);
    expect(feed(relay, body)).toBe('');
    expect(relay.terminal).toBe(true);
    expect(relay.error).not.toBeNull();
  });

  test('without a word may not end here', () => {
    const relay = mendStream(RELAY_TERMS);
    feed(relay, sse({ choices: [{ text: 'a', index: 0, finish_reason: null }] }));
    expect(relay).toMatchObject({ terminal: false, mayEndHere: false });
  });
});

describe('answers that come one after the other', () => {
  const answer = (index: number) => ({ choices: [{ text: 'a', index, finish_reason: 'stop' }] });
  const request = { prompt: ['one', 'two'], n: 2 };

  test('are complete only when all requested choices have arrived', () => {
    const relay = mendStream({ ...RELAY_TERMS, request });
    for (const index of [0, 1, 2]) {
      feed(relay, sse(answer(index)));
      expect(relay.mayEndHere).toBe(false);
    }
    feed(relay, sse(answer(3)));
    expect(relay.mayEndHere).toBe(true);
  });
});

describe('words', () => {
  const answer = fc.record({ text: fc.string({ unit: anyCharacter }), index: fc.nat(1) });

  test('arrive as they were said and are counted, however alike the frames are', () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 30 }), fc.boolean(), (answers, named) => {
        const model = named ? 'bridge' : 'host-name';
        const head = { id: 'c', object: 'text_completion', created: 9, model };
        const chunks = answers.map((one) => ({
          ...head,
          choices: [{ ...one, logprobs: null, finish_reason: null }],
          usage: null,
        }));
        const body = sse(...chunks, '[DONE]');
        const relay = mendStream(RELAY_TERMS);
        const text = feed(relay, body) + relay.closing(BILL);
        expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
        expect(textsOf(text)).toEqual(textsOf(body));
        expect(relay.relayedBytes).toBe(answers.reduce((sum, one) => sum + Buffer.byteLength(one.text), 0));
      }),
    );
  });
});

describe('whatever a host sends', () => {
  const strange = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.constant(undefined),
    fc.object({ maxDepth: 1 }),
  );
  const choice = fc.record(
    { text: strange, index: strange, logprobs: strange, finish_reason: strange },
    { requiredKeys: [] },
  );
  const frame = fc.record(
    {
      id: strange,
      object: strange,
      created: strange,
      model: strange,
      usage: strange,
      choices: fc.oneof(strange, fc.array(fc.oneof(choice, strange), { maxLength: 3 })),
    },
    { requiredKeys: [] },
  );

  test('nothing is thrown, and a stream that ends well conforms', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), (frames) => {
        const { text, relay } = relayed(sse(...frames, '[DONE]'));
        if (relay.error !== null) return;
        const faults = completionFaults(text, { model: 'bridge', wantsUsage: true });
        expect(faults.filter((fault) => !fault.startsWith('finishes by'))).toEqual([]);
      }),
      { numRuns: randomCases(300) },
    );
  });
});

describe('a conforming stream', () => {
  test('passes byte for byte, except for the usage frame and the terminator', () => {
    const body = streamOf('streamed')
      .toString()
      .replaceAll(/"model":"[^"]*"/g, '"model":"bridge"');
    const relay = mendStream(RELAY_TERMS);
    const frames = body.split(/(?<=\n\n)/);
    expect(feed(relay, body)).toBe(frames.slice(0, -2).join(''));
    expect(relay).toMatchObject({
      terminal: true,
      error: null,
      usage: { state: 'reported', usage: { outputTokens: 3 } },
    });
    const closing = relay.closing(BILL);
    expect(chunksIn(closing)).toMatchObject([{ id: 'cmpl-7Qx', created: 1_790_000_001, choices: [] }]);
    expect(closing.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('may end without a terminator once every answer has', () => {
    const relay = mendStream(RELAY_TERMS);
    const body = streamOf('streamed-batch').toString().replace('data: [DONE]\n\n', '');
    feed(relay, body);
    expect(relay).toMatchObject({ terminal: false, mayEndHere: true, usage: { state: 'reported' } });
  });
});
