import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomCases } from '../../../test/random-cases.ts';
import { answers } from '../../../test/responses-arbitraries.ts';
import {
  accumulate,
  billFor,
  eventsIn,
  faultsOfResponse,
  faultsOfStream,
  type Json,
  readBufferedWithSdk,
  readWithSdk,
  TERMS,
  typesIn,
} from '../../../test/responses-stream.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { CanonicalEvent, FinishReason } from '../../canonical/events.ts';
import { ResponseFold } from '../../canonical/fold.ts';
import { unwrapForeign } from '../fields/foreign-reasoning.ts';
import type { WriteTerms } from '../hub.ts';
import { writeResponse } from './write-response.ts';
import { ResponseWriter, writeStream } from './write-stream.ts';

const WRITE: WriteTerms = { ...TERMS, request: {}, outputLimit: 4096 };

function written(events: readonly CanonicalEvent[], terms: WriteTerms = WRITE): string {
  const writer = writeStream(terms);
  return events.map((event) => writer.event(event)).join('') + writer.closing(billFor());
}

function answerOf(events: readonly CanonicalEvent[], terms: WriteTerms = WRITE): Json {
  const fold = new ResponseFold();
  for (const event of events) fold.event(event);
  return JSON.parse(writeResponse(fold.answer()!, billFor(), terms).toString());
}

const START: CanonicalEvent = { kind: 'start', id: 'host', createdS: 5 };
const finish = (reason: FinishReason): CanonicalEvent => ({ kind: 'finish', reason, raw: null, stopSequence: null });
const delta = (text: string): CanonicalEvent => ({ kind: 'block-delta', text });
const END: CanonicalEvent = { kind: 'block-end', opaque: null };
const text = (...words: string[]): CanonicalEvent[] => [
  { kind: 'block-start', block: { kind: 'text' } },
  ...words.map(delta),
  END,
];
const call = (id: string, name: string, json: string): CanonicalEvent[] => [
  { kind: 'block-start', block: { kind: 'tool-call', id, name } },
  ...(json === '' ? [] : [delta(json)]),
  END,
];
const thought = (words: string): CanonicalEvent[] => [
  { kind: 'block-start', block: { kind: 'reasoning' } },
  ...(words === '' ? [] : [delta(words)]),
  { kind: 'block-end', opaque: { vendor: 'another', form: 'signature', data: 'sig+/=' } },
];

describe('any answer', () => {
  test('is a stream that the wire’s rules and the SDK’s helper accept, and the buffered answer says the same', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (events) => {
        const stream = written(events);
        expect(faultsOfStream(stream)).toEqual([]);
        const buffered = answerOf(events);
        expect(faultsOfResponse(buffered)).toEqual([]);
        const final = await accumulate(stream);
        expect(final.output).toMatchObject(buffered.output as Json[]);
        expect(final.status).toBe(buffered.status);
      }),
      { numRuns: randomCases(150) },
    );
  });
});

describe('a stream of this wire', () => {
  test('tells text event by event, in the order of the vendor', async () => {
    const stream = written([START, ...text('Hel', 'lo'), finish('stop')]);
    expect(typesIn(stream)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const { final } = await readWithSdk(stream);
    expect(final).toMatchObject({ id: 'resp_0123456789', status: 'completed', output_text: 'Hello' });
  });

  test('gives calls both their ids, their name in the end event, and JSON for no arguments', async () => {
    const stream = written([
      START,
      ...call('call_a', 'first', '{"n":1}'),
      ...call('call_b', 'second', ''),
      finish('tool_calls'),
    ]);
    const done = eventsIn(stream).filter(({ name }) => name === 'response.function_call_arguments.done');
    expect(done.map(({ data }) => [data.name, data.arguments])).toEqual([
      ['first', '{"n":1}'],
      ['second', '{}'],
    ]);
    const { final } = await readWithSdk(stream);
    expect(final.output).toMatchObject([
      { id: 'fc_0123456789_0', call_id: 'call_a', status: 'completed' },
      { id: 'fc_0123456789_1', call_id: 'call_b', arguments: '{}' },
    ]);
  });

  test('writes reasoning as a summary, and wraps another vendor’s signature', async () => {
    const stream = written([START, ...thought('Hm.'), ...thought(''), ...text('So.'), finish('stop')]);
    expect(typesIn(stream).filter((type) => type.includes('reasoning'))).toEqual([
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
    ]);
    const { final } = await readWithSdk(stream);
    const [first, second] = final.output as unknown as Json[];
    expect(first).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] });
    expect(second).toMatchObject({ type: 'reasoning', summary: [] });
    expect(unwrapForeign(first!.encrypted_content as string)).toEqual({
      vendor: 'another',
      form: 'signature',
      data: 'sig+/=',
    });
  });

  test('writes a refusal as a part of its own, and adjacent texts as parts of one message', async () => {
    const refused: CanonicalEvent[] = [{ kind: 'block-start', block: { kind: 'refusal' } }, delta('No.'), END];
    const { final } = await readWithSdk(written([START, ...text('Well.'), ...refused, finish('stop')]));
    expect(final.output).toMatchObject([
      {
        type: 'message',
        content: [
          { type: 'output_text', text: 'Well.' },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ]);
  });

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('cut short by %s is incomplete, and so is its last item', (reason, detail) => {
    const stream = written([START, ...text('a'), ...call('c', 'f', '{"x'), finish(reason)]);
    expect(eventsIn(stream).at(-1)).toMatchObject({
      name: 'response.incomplete',
      data: {
        response: {
          status: 'incomplete',
          incomplete_details: { reason: detail },
          output: [{ status: 'completed' }, { status: 'incomplete', arguments: '{"x' }],
        },
      },
    });
  });

  test('sends nothing before the first content, and holds the last event back until the cost is known', () => {
    const writer = writeStream(WRITE);
    expect(writer.event(START)).toBe('');
    expect(typesIn(writer.event({ kind: 'block-start', block: { kind: 'text' } }))).toHaveLength(4);
    const rest = [delta('x'), END, finish('stop')].map((event) => writer.event(event)).join('');
    expect(typesIn(rest)).not.toContain('response.completed');
    const usage = { ...billFor().usage, freshTokens: 3, cacheReadTokens: 2, outputTokens: 5, reasoningTokens: 1 };
    expect((eventsIn(writer.closing(billFor(usage)))[0]!.data.response as Json).usage).toEqual({
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 10,
    });
  });

  test('an answer of nothing is still an answer', async () => {
    const stream = written([START, finish('stop')]);
    expect(faultsOfStream(stream)).toEqual([]);
    expect((await readWithSdk(stream)).final.output).toEqual([]);
  });

  test('that breaks off ends with an error and a failed response', async () => {
    const writer = new ResponseWriter(WRITE);
    const begun = [START, { kind: 'block-start', block: { kind: 'text' } } as const, delta('Half')];
    const whole =
      begun.map((event) => writer.event(event)).join('') +
      writer.failure(new GatewayError('host_failed', { message: 'Gone.' }));
    expect(faultsOfStream(whole)).toEqual([]);
    await expect(readWithSdk(whole)).rejects.toMatchObject({ code: 'host_failed', type: 'upstream_error' });
  });
});

describe('a buffered answer', () => {
  const REQUEST = {
    model: 'whatever',
    input: 'x',
    instructions: 'Be brief.',
    temperature: 0.5,
    top_p: 0.9,
    parallel_tool_calls: false,
    tool_choice: 'required',
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
    text: { format: { type: 'json_schema', name: 's', schema: {} } },
    reasoning: { effort: 'low', summary: 'auto' },
    metadata: { a: 'b' },
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    max_tool_calls: 3,
  };

  test('repeats the request, and has every field', async () => {
    const answer = answerOf([START, ...text('Hi'), finish('stop')], { ...WRITE, request: REQUEST, outputLimit: 77 });
    expect(faultsOfResponse(answer)).toEqual([]);
    expect(answer).toMatchObject({
      object: 'response',
      created_at: TERMS.createdS,
      model: 'catalog-model',
      instructions: 'Be brief.',
      max_output_tokens: 77,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      tool_choice: 'required',
      tools: [{ type: 'function', name: 'f', description: null, parameters: { type: 'object' }, strict: null }],
      text: { format: { type: 'json_schema', name: 's', description: null, strict: false }, verbosity: 'medium' },
      reasoning: { effort: 'low', summary: 'auto' },
      metadata: { a: 'b' },
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      max_tool_calls: 3,
      store: false,
      truncation: 'disabled',
      previous_response_id: null,
      background: false,
      usage: { cost: 0.000001234, cost_nanousd: 1234 },
    });
    expect((await readBufferedWithSdk(Buffer.from(JSON.stringify(answer)))).output_text).toBe('Hi');
  });

  test('without options states the defaults', () => {
    expect(answerOf([START, finish('stop')])).toMatchObject({
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      text: { format: { type: 'text' } },
      reasoning: { effort: null, summary: null },
      metadata: {},
      instructions: null,
      error: null,
      incomplete_details: null,
      user: null,
    });
  });
});
