import { describe, expect, test } from 'vitest';
import { chunk, delta, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { mendStream } from './mend.ts';

const DONE = '[DONE]';
const opening = chunk([delta({ role: 'assistant', content: '' })]);
const said = (content: string) => chunk([delta({ content })]);
const stopped = chunk([delta({}, 'stop')]);
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

describe('a host that breaks off', () => {
  const ended = (text: string) => {
    const relay = mendStream(RELAY_TERMS);
    const sent = feed(relay, text);
    return { relay, sent };
  };

  test('between two choices has not finished, although every choice so far has', () => {
    const choice = (index: number) => sse(chunk([{ ...delta({ content: 'x' }, 'stop'), index }]));
    const relay = mendStream({ ...RELAY_TERMS, request: { n: 2 } });
    feed(relay, choice(0));
    expect(relay.mayEndHere).toBe(false);
    feed(relay, choice(1));
    expect(relay.mayEndHere).toBe(true);
  });

  test.each([
    ['an error', sse({ error: { message: 'Overloaded', code: 503 } }), { kind: 'unavailable', message: 'Overloaded' }],
    [
      'an error beside choices',
      sse(chunk([delta({ content: '' })], { error: { message: 'no', code: 400 } })),
      { kind: 'request', message: 'no' },
    ],
    ['a string', sse({ error: 'broke' }), { kind: 'unavailable', message: 'broke' }],
    [
      'an event of that name',
      'event: error\ndata: {"message":"late","status_code":429}\n\n',
      { kind: 'rate', message: 'late' },
    ],
    ['its finish reason', sse(chunk([delta({}, 'error')])), { kind: 'unavailable' }],
    [
      'the error of a choice',
      sse(chunk([{ ...delta({}, 'error'), error: { message: 'gone', code: 502 } }])),
      { kind: 'unavailable', message: 'gone' },
    ],
    ['no JSON', sse('{"choices":[{"delta":{"content":"x"'), { kind: 'unavailable' }],
    ['no object', sse('7'), { kind: 'unavailable' }],
  ])('by %s', (_name, text, error) => {
    const { relay, sent } = ended(sse(opening, said('x')) + text + sse(said('never'), DONE));
    expect(relay.error).toMatchObject(error);
    expect([relay.terminal, sent]).toEqual([true, sse(opening, said('x'))]);
  });

  test('may report its usage in the error', () => {
    const { relay } = ended(sse(opening, said('x'), { error: { message: 'no', code: 400 }, usage: USAGE }));
    expect(relay.usage).toMatchObject({ state: 'reported', usage: { outputTokens: 4 } });
    const before = ended(sse(opening, said('x'), chunk([], { usage: USAGE }), { error: { message: 'no' } }));
    expect(before.relay.usage.state).toBe('partial');
  });

  test('by ending without an answer', () => {
    expect(ended(sse(chunk([], { usage: USAGE }), DONE)).relay.error).toMatchObject({ kind: 'unavailable' });
  });

  test('by nesting nobody can write again', () => {
    const deep = `{"choices":[{"index":0,"delta":{"content":"x"}}],"deep":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
    expect(ended(sse(opening, deep)).relay.error).toMatchObject({ kind: 'unavailable' });
  });

  test('by more tool calls than an answer may hold', () => {
    const calls = Array.from({ length: 129 }, (_, index) => ({ index, id: `c${index}`, function: { name: 'x' } }));
    expect(ended(sse(chunk([delta({ tool_calls: calls })]))).relay.error?.message).toContain('tool calls');
  });

  test('but an error that says nothing is none', () => {
    for (const error of [null, false, '']) {
      expect(ended(sse(opening, { ...said('x'), error }, stopped, DONE)).relay.error).toBeNull();
    }
  });
});

describe('the framing', () => {
  test('comments, empty events and names of events are not passed on', () => {
    const text = `: hello\n\ndata:\n\nid: 7\nevent: message\ndata: ${JSON.stringify(opening)}\n\n: there\n\n${sse(said('x'), stopped)}data: [DONE] \n\n`;
    const relay = mendStream(RELAY_TERMS);
    expect(feed(relay, text)).toBe(sse(opening, said('x'), stopped));
    expect(relay.terminal).toBe(true);
  });

  test.each(['\r\n', '\r'])('line ends %j become ours', (lineEnd) => {
    const events = [opening, said('x'), said('y'), said('z'), stopped];
    const text = sse(...events, DONE).replaceAll('\n', lineEnd);
    expect(feed(mendStream(RELAY_TERMS), text)).toBe(sse(...events));
  });

  test('data in several lines becomes one', () => {
    const text = JSON.stringify(said('x'), null, 1)
      .split('\n')
      .map((line) => `data: ${line}\n`)
      .join('');
    expect(feed(mendStream(RELAY_TERMS), `${sse(opening)}${text}\n`)).toBe(sse(opening, said('x')));
  });

  test('nothing follows the terminator', () => {
    const relay = mendStream(RELAY_TERMS);
    expect(feed(relay, sse(opening, stopped, DONE, said('late'), { error: 'late' }))).toBe(sse(opening, stopped));
    expect(relay.error).toBeNull();
  });
});
