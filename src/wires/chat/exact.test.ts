import { describe, expect, test } from 'vitest';
import { BILL, chunk, delta, deltasIn, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { exactStream } from './exact.ts';

const opening = chunk([delta({ role: 'assistant', content: '' })]);
const said = (content: string) => chunk([delta({ content })]);
const stopped = chunk([delta({}, 'stop')]);
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const usageFrame = chunk([], { usage: USAGE });
const DONE = '[DONE]';

describe('frames of a host proven to conform', () => {
  test('pass as they came; comments, usage and the terminator stay here', () => {
    const words = ['Hello', ' "world"', '\n', ' Brücke', ' 橋', ' \u2028'].map(said);
    const relay = exactStream(RELAY_TERMS);
    expect(feed(relay, `: hi\n\n${sse(opening, ...words, stopped, usageFrame, DONE, said('late'))}`)).toBe(
      sse(opening, ...words, stopped),
    );
    expect([relay.terminal, relay.error, relay.mayEndHere]).toEqual([true, null, true]);
    expect(relay.usage).toMatchObject({ state: 'reported', usage: { freshTokens: 9, outputTokens: 4 } });
    expect(relay.relayedBytes).toBe(Buffer.byteLength('Hello "world"\n Brücke 橋 \u2028'));
  });

  test('that tell of usage are read one by one, however alike they are', () => {
    const telling = (content: string) => chunk([delta({ content })], { usage: USAGE });
    const relay = exactStream(RELAY_TERMS);
    feed(relay, sse(opening, telling('a'), telling('b'), telling('c'), stopped, DONE));
    expect(relay.usage).toMatchObject({ state: 'reported', usage: { freshTokens: 9, outputTokens: 4 } });
  });

  test('pass in pieces of any size', () => {
    const text = sse(opening, said('Brücke 橋'), said(' x'), said(' y'), stopped, DONE);
    for (const piece of [1, 2, 3, 7, 64]) {
      expect(feed(exactStream(RELAY_TERMS), text, piece)).toBe(
        sse(opening, said('Brücke 橋'), said(' x'), said(' y'), stopped),
      );
    }
  });

  test('are closed with the host’s own id and time', () => {
    const relay = exactStream(RELAY_TERMS);
    feed(relay, sse(opening, said('x'), stopped, DONE));
    const closing = relay.closing(BILL);
    expect(closing).toContain(
      '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"bridge"',
    );
    expect(closing).toContain('"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}');
    expect(closing.endsWith('data: [DONE]\n\n')).toBe(true);
    const unasked = exactStream({ ...RELAY_TERMS, wantsUsageFrame: false });
    feed(unasked, sse(opening, said('x'), stopped, DONE));
    expect(unasked.closing(BILL)).toBe('data: [DONE]\n\n');
  });

  test('a trace under one name gets the other', () => {
    const events = [
      opening,
      ...['We', ' need', ' it'].map((reasoning_content) => chunk([delta({ reasoning_content })])),
    ];
    const sent = deltasIn(feed(exactStream(RELAY_TERMS), sse(...events)));
    expect(sent.slice(1)).toEqual(
      ['We', ' need', ' it'].map((words) => ({ reasoning: words, reasoning_content: words })),
    );
    const hidden = feed(exactStream({ ...RELAY_TERMS, hideReasoning: true }), sse(...events));
    expect(hidden).not.toContain('reasoning');
  });

  test('usage told before the last words is partial', () => {
    const relay = exactStream(RELAY_TERMS);
    feed(
      relay,
      sse(opening, said('a'), said('b'), chunk([delta({ content: 'c' })], { usage: USAGE }), said('d'), stopped, DONE),
    );
    expect(relay.usage.state).toBe('partial');
  });

  test('an error ends the stream, with the usage it may carry', () => {
    const relay = exactStream(RELAY_TERMS);
    const sent = feed(relay, sse(opening, said('x'), { error: { message: 'no', code: 503 }, usage: USAGE }, DONE));
    expect(sent).toBe(sse(opening, said('x')));
    expect(relay).toMatchObject({ terminal: true, error: { kind: 'unavailable' }, usage: { state: 'reported' } });
  });

  test.each(['no JSON', '7', '[]'])('%s is an error too', (data) => {
    const relay = exactStream(RELAY_TERMS);
    feed(relay, sse(opening, data));
    expect(relay.error).toMatchObject({ kind: 'unavailable' });
  });

  test('a cut stream is not over', () => {
    const relay = exactStream(RELAY_TERMS);
    feed(relay, sse(opening, said('x')));
    expect([relay.terminal, relay.mayEndHere]).toEqual([false, false]);
  });
});
