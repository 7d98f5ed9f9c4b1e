import { describe, expect, test } from 'vitest';
import { streamFaults } from '../../../test/chat-conformity.ts';
import { BILL, chunk, chunksIn, delta, deltasIn, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { eventsOf } from '../../../test/raw-client.ts';
import type { RelayTerms } from '../wire.ts';
import { mendStream } from './mend.ts';

const DONE = '[DONE]';
const opening = chunk([delta({ role: 'assistant', content: '' })]);
const said = (content: string) => chunk([delta({ content })]);
const stopped = chunk([delta({}, 'stop')]);
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

/** The whole stream as a client sees it, checked for conformity on the way. */
function relayed(events: readonly unknown[], more: Partial<RelayTerms> = {}): string {
  const terms = { ...RELAY_TERMS, ...more };
  const relay = mendStream(terms);
  const sent = feed(relay, sse(...events));
  if (relay.error !== null || !(relay.terminal || relay.mayEndHere)) throw new Error('The stream did not end well.');
  const text = sent + relay.closing(BILL);
  const conformity = { model: terms.catalogModel, wantsUsage: terms.wantsUsageFrame, ended: 'complete' } as const;
  expect(streamFaults(eventsOf(text), conformity)).toEqual([]);
  return text;
}

const sentOf = (events: readonly unknown[], more: Partial<RelayTerms> = {}) =>
  feed(mendStream({ ...RELAY_TERMS, ...more }), sse(...events));

describe('a stream that is right', () => {
  test('is passed on byte for byte', () => {
    const events = [opening, said('Hello'), said(' "world"\n'), said(' Brücke 橋'), stopped];
    expect(sentOf([...events, chunk([], { usage: USAGE }), DONE])).toBe(sse(...events));
  });

  test.each([1, 2, 3, 7, 64])('passes byte for byte when it arrives in pieces of %i bytes', (pieceBytes) => {
    const events = [opening, said('Brücke 橋'), said(' x'), said(' y'), stopped];
    expect(feed(mendStream(RELAY_TERMS), sse(...events, DONE), pieceBytes)).toBe(sse(...events));
  });

  test('ends with our own frames: the billed usage, then the terminator', () => {
    const closing = relayed([opening, said('x'), stopped, DONE])
      .split('\n\n')
      .slice(-3);
    expect(JSON.parse(closing[0]!.slice(6))).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model: 'bridge',
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(closing.slice(1)).toEqual(['data: [DONE]', '']);
  });

  test('has no usage at all for a client that did not ask', () => {
    const text = relayed([opening, said('x'), said('y'), stopped, chunk([], { usage: USAGE }), DONE], {
      wantsUsageFrame: false,
    });
    expect(text).not.toContain('usage');
  });

  test('keeps unknown members, logprobs, and the other choices', () => {
    const logprobs = { content: [{ token: 'x', logprob: -0.5, bytes: [120], top_logprobs: [] }], refusal: null };
    const odd = chunk([{ ...delta({ content: 'x', hint: [1] }), logprobs, mood: 'fine' }], {
      citations: ['a'],
      model: 'h',
    });
    const other = chunk([delta({ role: 'assistant', content: 'y' }, null, 1)], { model: 'h' });
    const [, first, second] = chunksIn(relayed([opening, odd, other, DONE]));
    expect(first).toEqual({ ...odd, model: 'bridge' });
    expect(second).toEqual({ ...other, model: 'bridge' });
  });
});

describe('the identity of chunks', () => {
  test('has one id, time, model and object, the first usable ones', () => {
    const events = [
      chunk([delta({ content: 'a' })], { id: '', created: 0, object: '', model: 'h-1' }),
      chunk([delta({ content: 'b' })], { id: 'late', created: 1_790_000_007, model: 'h-2' }),
      chunk([delta({}, 'stop')], { id: 'later', created: 'now', object: 'chat.completion.done' }),
    ];
    for (const one of chunksIn(relayed([...events, DONE]))) {
      expect(one).toMatchObject({
        id: 'chatcmpl-req_1',
        created: RELAY_TERMS.createdS,
        model: 'bridge',
        object: 'chat.completion.chunk',
      });
    }
  });

  test('is the host’s where its first chunk has one', () => {
    const text = relayed([opening, chunk([delta({ content: 'b' })], { id: 'x', created: 5 }), stopped, DONE]);
    for (const { id, created } of chunksIn(text)) expect([id, created]).toEqual(['chatcmpl-1', 1_790_000_000]);
  });

  test('a chunk that has neither choices nor usage is not passed on', () => {
    const filter = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{}] };
    expect(sentOf([filter])).toBe('');
    relayed([filter, opening, said('x'), stopped, DONE]);
  });

  test('members that name the host are taken out', () => {
    const text = relayed([{ ...opening, x_groq: { id: 'req_9' }, provider: 'Somebody' }, said('x'), stopped, DONE]);
    expect(text).not.toMatch(/x_groq|provider|req_9/);
  });
});

describe('the role', () => {
  test.each([
    ['missing', {}],
    ['null', { role: null }],
    ['empty', { role: '' }],
    ['another', { role: 'model' }],
  ])('comes first though the host’s is %s', (_name, role) => {
    const [first, second] = deltasIn(
      relayed([chunk([delta({ ...role, content: 'a' })]), chunk([delta({ ...role, content: 'b' })]), stopped, DONE]),
    );
    expect([first!.role, second!.role]).toEqual(['assistant', undefined]);
  });

  test('comes first in every answer', () => {
    const text = relayed([chunk([delta({ content: 'a' }), delta({ content: 'b' }, null, 1)]), DONE]);
    expect(deltasIn(text).slice(0, 2)).toEqual([
      { content: 'a', role: 'assistant' },
      { content: 'b', role: 'assistant' },
    ]);
  });
});

describe('the end of an answer', () => {
  const reasons = (text: string) =>
    chunksIn(text).flatMap(({ choices }) => (choices as { finish_reason: unknown }[]).map((one) => one.finish_reason));

  test('is sent once, even if the host repeats it', () => {
    const text = relayed([opening, said('x'), stopped, stopped, chunk([delta({ content: '' }, 'stop')]), DONE]);
    expect(reasons(text)).toEqual([null, null, 'stop']);
  });

  test('is sent once, even if each repetition comes with words', () => {
    const last = ['a', ' b', ' c', ' d'].map((content) => chunk([delta({ content }, 'length')]));
    expect(reasons(relayed([opening, ...last, DONE]))).toEqual([null, 'length', null, null, null]);
  });

  test('is added if the host left it out, but only after a clean end', () => {
    expect(reasons(relayed([opening, said('x'), DONE]))).toEqual([null, null, 'stop']);
    const relay = mendStream(RELAY_TERMS);
    feed(relay, sse(opening, said('x')));
    expect([relay.terminal, relay.mayEndHere]).toEqual([false, false]);
  });

  test('is made up for each answer that has none, as a call for tools where tools were called', () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'open', arguments: '{}' } };
    const text = relayed([chunk([delta({ content: 'a' }), delta({ tool_calls: [call] }, null, 2)]), DONE]);
    expect(
      chunksIn(text)
        .slice(1, 3)
        .map(({ choices }) => choices),
    ).toEqual([
      [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }],
      [{ index: 2, delta: {}, logprobs: null, finish_reason: 'tool_calls' }],
    ]);
  });

  test('null stands where it is not yet told', () => {
    const bare = chunk([{ index: 0, delta: { content: 'x' } }]);
    expect(reasons(relayed([bare, bare, stopped, DONE]))).toEqual([null, null, 'stop']);
  });

  test('needs no terminator once every answer has one', () => {
    const relay = mendStream(RELAY_TERMS);
    feed(relay, sse(chunk([delta({ content: 'a' }, 'stop'), delta({ content: 'b' }, null, 1)])));
    expect(relay.mayEndHere).toBe(false);
    feed(relay, sse(chunk([delta({}, 'length', 1)])));
    expect(relay.mayEndHere).toBe(true);
  });
});

describe('words', () => {
  test('in parts become text and a trace', () => {
    const thinking = {
      type: 'thinking',
      thinking: [
        { type: 'text', text: 'Hm' },
        { type: 'text', text: '.' },
      ],
    };
    const deltas = deltasIn(
      relayed([
        opening,
        said('x'),
        chunk([delta({ content: [thinking, { type: 'text', text: 'A' }] })]),
        stopped,
        DONE,
      ]),
    );
    expect(deltas[2]).toEqual({ content: 'A', reasoning: 'Hm.', reasoning_content: 'Hm.' });
  });

  test.each([
    [{ reasoning: 'a' }, 'a'],
    [{ reasoning_content: 'a' }, 'a'],
    [{ reasoning: 'a', reasoning_content: 'a' }, 'a'],
    [{ reasoning: null, reasoning_content: 'a' }, 'a'],
    [
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'a' },
          { type: 'reasoning.text', text: 'b' },
        ],
      },
      'ab',
    ],
  ])('reasoning as %j is under both names', (members, trace) => {
    const sent = deltasIn(relayed([opening, chunk([delta(members)]), stopped, DONE]))[1];
    expect(sent).toEqual({ ...members, reasoning: trace, reasoning_content: trace });
  });

  test('a signature of its own passes', () => {
    const details = { reasoning_details: [{ type: 'reasoning.text', signature: 'c2ln' }] };
    expect(deltasIn(relayed([opening, chunk([delta(details)]), stopped, DONE]))[1]).toEqual(details);
  });

  test('a trace nobody wants leaves nothing behind, and what is left of its frames stays here', () => {
    const events = [
      opening,
      chunk([delta({ reasoning: 'secret' })]),
      chunk([delta({ reasoning_details: [{}] })]),
      said('x'),
    ];
    const text = relayed([...events, stopped, DONE], { hideReasoning: true });
    expect(text).not.toMatch(/reasoning|secret/);
    expect(deltasIn(text)).toEqual([{ role: 'assistant', content: '' }, { content: 'x' }, {}]);
  });

  test.each([7, true, {}, { text: 'x' }])('content that is %j is left out', (content) => {
    const sent = deltasIn(
      relayed([
        opening,
        said('x'),
        chunk([delta({ content, refusal: content, reasoning: content, mood: 1 })]),
        stopped,
        DONE,
      ]),
    );
    expect(sent[2]).toEqual({ mood: 1 });
  });

  test('the whole message in one event is taken for the first delta, and later for a repetition', () => {
    const whole = { index: 0, message: { role: 'assistant', content: 'all' }, finish_reason: 'stop' };
    expect(deltasIn(relayed([chunk([whole]), DONE]))[0]).toEqual({ role: 'assistant', content: 'all' });
    const text = relayed([opening, said('all'), chunk([{ ...whole, delta: { content: '' } }])]);
    expect(deltasIn(text).map(({ content }) => content)).toEqual(['', 'all', '']);
    expect(deltasIn(relayed([opening, said('all'), chunk([whole])])).at(-1)).toEqual({});
  });
});
