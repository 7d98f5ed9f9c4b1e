import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../test/any-character.ts';
import { BILL, chunksIn, feed, RELAY_TERMS, sse } from '../../../test/chat-wire.ts';
import { completionFaults, textsOf } from '../../../test/completions-conformity.ts';
import type { CanonicalEvent } from '../../canonical/events.ts';
import { TranslatedStream, translateResponse } from '../../gateway/translate.ts';
import type { WriteTerms } from '../hub.ts';
import { WIRES } from '../registry.ts';
import { completions } from './index.ts';
import { writeStream } from './write-stream.ts';

const TERMS: WriteTerms = { ...RELAY_TERMS, outputLimit: 16 };
const CLIENT = completions.hub!.client!;
const CHAT = WIRES.chat.hub!.upstream!;

const FINISH = { kind: 'finish', raw: null, stopSequence: null } as const;
const START: CanonicalEvent = { kind: 'start', id: null, createdS: 1_790_000_000 };

function block(kind: 'text' | 'refusal', ...texts: string[]): CanonicalEvent[] {
  const deltas = texts.map((text): CanonicalEvent => ({ kind: 'block-delta', text }));
  return [{ kind: 'block-start', block: { kind } }, ...deltas, { kind: 'block-end', opaque: null }];
}

function stream(events: readonly CanonicalEvent[], terms: WriteTerms = TERMS): string {
  const writer = writeStream(terms);
  return events.map((event) => writer.event(event)).join('') + writer.closing(BILL);
}

describe('events as a stream of this wire', () => {
  test('each delta is a chunk, the finish another', () => {
    const text = stream([START, ...block('text', ' nine', ' "sharp"'), { ...FINISH, reason: 'length' }]);
    expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
    expect(chunksIn(text).map(({ choices }) => choices)).toEqual([
      [{ text: ' nine', index: 0, logprobs: null, finish_reason: null }],
      [{ text: ' "sharp"', index: 0, logprobs: null, finish_reason: null }],
      [{ text: '', index: 0, logprobs: null, finish_reason: 'length' }],
      [],
    ]);
    expect(chunksIn(text)[0]).toMatchObject({ id: 'cmpl-req_1', object: 'text_completion', created: 1_790_000_000 });
  });

  test('a refusal is words like others', () => {
    const text = stream([START, ...block('refusal', 'No.'), { ...FINISH, reason: 'stop' }]);
    expect(textsOf(text)).toEqual({ 0: 'No.' });
  });

  test('a wire without calls ends in a stop', () => {
    const text = stream([START, { ...FINISH, reason: 'tool_calls' }], { ...TERMS, wantsUsageFrame: false });
    expect(completionFaults(text, { model: 'bridge', wantsUsage: false })).toEqual([]);
  });

  test('whatever the words, they arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter })), (words) => {
        const text = stream([START, ...block('text', ...words), { ...FINISH, reason: 'stop' }]);
        expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
        expect(textsOf(text)).toEqual({ 0: words.join('') });
      }),
      { examples: [[['\u2028']]] },
    );
  });
});

describe('a chat host’s answer', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

  test('streams to a caller of this wire', () => {
    const relay = new TranslatedStream(CLIENT, CHAT, TERMS, {});
    const chunk = (delta: object, finish: string | null = null) => ({
      id: 'chatcmpl-1',
      created: 9,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const body = sse(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: ' ni' }),
      chunk({ content: 'ne' }),
      chunk({}, 'stop'),
      { choices: [], usage },
      '[DONE]',
    );
    const text = feed(relay, body) + relay.closing(BILL);
    expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
    expect(textsOf(text)).toEqual({ 0: ' nine' });
    expect(relay).toMatchObject({ terminal: true, error: null, relayedBytes: 5, usage: { state: 'reported' } });
  });

  test('loses its trace and its tool calls, which have no place here and do not count as sent', () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'tide', arguments: '{}' } };
    const delta = { role: 'assistant', reasoning: 'hm', content: 'No.', tool_calls: [call] };
    const relay = new TranslatedStream(CLIENT, CHAT, TERMS, {});
    const body = sse({ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }, { choices: [], usage }, '[DONE]');
    const text = feed(relay, body) + relay.closing(BILL);
    expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
    expect(textsOf(text)).toEqual({ 0: 'No.' });
    expect(relay.relayedBytes).toBe(3);
  });

  test('is a whole completion, with its bill', () => {
    const message = { role: 'assistant', content: ' nine', reasoning: 'hm' };
    const body = { id: 'chatcmpl-1', created: 9, choices: [{ index: 0, message, finish_reason: 'length' }], usage };
    const answer = translateResponse(Buffer.from(JSON.stringify(body)), CLIENT, CHAT, TERMS, {});
    const bytes = answer.write(BILL).toString();
    expect(bytes).toContain('"cost_nanousd":9007199254740993}}');
    expect(JSON.parse(bytes)).toEqual({
      id: 'cmpl-req_1',
      object: 'text_completion',
      created: 9,
      model: 'bridge',
      choices: [{ text: ' nine', index: 0, logprobs: null, finish_reason: 'length' }],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        cost: BILL.costUsd,
        cost_nanousd: 9007199254740992,
      },
    });
  });
});
