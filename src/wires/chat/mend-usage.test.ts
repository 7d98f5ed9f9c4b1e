import { describe, expect, test } from 'vitest';
import { BILL, chunk, chunksIn, delta, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { mendStream } from './mend.ts';

const DONE = '[DONE]';
const opening = chunk([delta({ role: 'assistant', content: '' })]);
const said = (content: string) => chunk([delta({ content })]);
const stopped = chunk([delta({}, 'stop')]);
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

/** The whole stream as a client sees it. */
function relayed(events: readonly unknown[]): string {
  const relay = mendStream(RELAY_TERMS);
  return feed(relay, sse(...events)) + relay.closing(BILL);
}

describe('usage in a stream', () => {
  const usageOf = (events: readonly unknown[]) => {
    const relay = mendStream(RELAY_TERMS);
    feed(relay, sse(...events));
    return relay.usage;
  };
  const reported = { state: 'reported', usage: expect.objectContaining({ freshTokens: 9, outputTokens: 4 }) };
  const partial = { ...reported, state: 'partial' };
  const frame = chunk([], { usage: USAGE });

  test.each([
    ['in a frame of its own', [opening, said('x'), stopped, frame, DONE], reported],
    ['there, but no terminator', [opening, said('x'), stopped, frame], reported],
    ['on the choice that finishes', [opening, said('x'), chunk([delta({}, 'stop')], { usage: USAGE }), DONE], reported],
    [
      'on a last choice that says nothing',
      [opening, said('x'), stopped, chunk([delta({})], { usage: USAGE }), DONE],
      reported,
    ],
    ['with the last text', [opening, chunk([delta({ content: 'x' }, 'stop')], { usage: USAGE }), DONE], reported],
    ['before the finish reason', [opening, said('x'), frame, stopped, DONE], reported],
    ['without any finish reason', [opening, said('x'), frame, DONE], reported],
    [
      'in a member of the host',
      [opening, said('x'), chunk([delta({}, 'stop')], { x_groq: { usage: USAGE } }), DONE],
      reported,
    ],
    ['inside the only choice', [opening, said('x'), chunk([{ ...delta({}, 'stop'), usage: USAGE }]), DONE], reported],
    [
      'inside one of several choices',
      [opening, chunk([delta({ content: 'x' }, null, 1)]), chunk([{ ...delta({}, 'stop'), usage: USAGE }]), DONE],
      { state: 'missing' },
    ],
    ['before the last text', [opening, frame, said('x'), stopped, DONE], partial],
    ['before the last text, many times', [opening, frame, ...'abcdefgh'.split('').map(said), stopped, DONE], partial],
    ['while the stream goes on', [opening, said('x'), frame], partial],
    ['nowhere', [opening, said('x'), stopped, DONE], { state: 'missing' }],
    [
      'as something else',
      [opening, said('x'), stopped, chunk([], { usage: { prompt_tokens: -1 } }), DONE],
      { state: 'missing', defect: expect.any(String) },
    ],
  ])('%s', (_name, events, reading) => {
    expect(usageOf(events)).toEqual(reading);
  });

  test.each([[{}], [[]], ['none'], [{ prompt_tokens: -1, completion_tokens: 4 }]])(
    '%j does not replace counts that can be billed',
    (bad) => {
      const late = chunk([], { usage: bad });
      const spoiled = { ...partial, defect: expect.any(String) };
      expect(usageOf([opening, said('x'), stopped, frame, late, DONE])).toEqual(spoiled);
      expect(usageOf([opening, said('x'), stopped, frame, late, frame, DONE])).toEqual(reported);
      expect(usageOf([opening, said('x'), stopped, late, frame, DONE])).toEqual(reported);
    },
  );

  test('inside a choice is not passed on', () => {
    expect(
      relayed([opening, said('x'), chunk([{ ...delta({}, 'stop'), usage: { prompt_tokens: 77 } }])]),
    ).not.toContain('77');
  });

  test('that never changes is still the final one', () => {
    const words = ['a', ' b', ' c', ' d'].map((content) => chunk([delta({ content })], { usage: USAGE }));
    expect(usageOf([opening, ...words, DONE])).toEqual(reported);
  });

  test('that is repeated counts by its last value', () => {
    const totals = [1, 2, 3].map((tokens) =>
      chunk([delta({ content: 'x' })], { usage: { ...USAGE, completion_tokens: tokens, total_tokens: undefined } }),
    );
    expect(usageOf([opening, ...totals, stopped, DONE])).toMatchObject({
      state: 'reported',
      usage: { outputTokens: 3 },
    });
  });

  test('never rides on a choice, and a frame that only carried it stays here', () => {
    const text = relayed([
      opening,
      said('x'),
      stopped,
      chunk([delta({ content: '' }, 'stop')], { usage: USAGE }),
      DONE,
    ]);
    expect(chunksIn(text).map(({ usage }) => usage)).toEqual([undefined, undefined, undefined, expect.any(Object)]);
    const bare = { ...said('y'), usage: undefined };
    expect(
      chunksIn(relayed([opening, bare, bare, stopped, DONE]))
        .slice(0, 4)
        .map(({ usage }) => usage),
    ).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('a trace that is hidden makes earlier usage partial too', () => {
    const relay = mendStream({ ...RELAY_TERMS, hideReasoning: true });
    feed(relay, sse(opening, frame, chunk([delta({ reasoning: 'hidden' })]), stopped, DONE));
    expect(relay.usage.state).toBe('partial');
  });
});

describe('what was relayed', () => {
  test('is counted in bytes of the model’s own words, a trace once', () => {
    const relay = mendStream(RELAY_TERMS);
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'open', arguments: '{"a":' } };
    const more = { index: 0, function: { arguments: '"ü"}' } };
    feed(
      relay,
      sse(
        opening,
        said('Brücke'),
        said('\n"'),
        said('\\'),
        said('🛂'),
        chunk([delta({ reasoning: 'hm', refusal: 'no' })]),
        chunk([delta({ tool_calls: [call] })]),
        chunk([delta({ tool_calls: [more] })]),
      ),
    );
    expect(relay.relayedBytes).toBe(7 + 2 + 1 + 4 + 2 + 2 + 4 + 5 + 5);
  });

  test('leaves out what was hidden', () => {
    const relay = mendStream({ ...RELAY_TERMS, hideReasoning: true });
    feed(relay, sse(opening, chunk([delta({ reasoning: 'hidden' })]), said('x')));
    expect(relay.relayedBytes).toBe(1);
  });
});

test('what is null beside the words of a chunk is left out, whether or not usage was asked for', () => {
  const nulls = { usage: null, system_fingerprint: null };
  const frames = [opening, { ...said('x'), ...nulls }, { ...said('y'), system_fingerprint: 'fp_1' }, stopped, DONE];
  for (const chunk of chunksIn(relayed(frames)).slice(0, 4)) expect(Object.values(chunk)).not.toContain(null);
  expect(chunksIn(relayed(frames))[2]).toMatchObject({ system_fingerprint: 'fp_1' });
});
