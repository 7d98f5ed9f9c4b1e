import { describe, expect, test } from 'vitest';
import {
  billFor,
  eventsIn,
  faultsOfResponse,
  faultsOfStream,
  fixture,
  framesOf,
  type Json,
  RESPONSE_FIELDS,
  readBufferedWithSdk,
  readWithSdk,
  relayInPieces,
  TERMS,
} from '../../../test/responses-stream.ts';
import { HostResponseBroken } from '../wire.ts';
import { mendStream } from './mend.ts';
import { responseAsStream, spliceResponse } from './splice-response.ts';

/** The buffered answer that a stream's last event carries. */
function answerOf(name: string): Json {
  return eventsIn(fixture(name).toString()).findLast(({ data }) => data.response !== undefined)!.data.response as Json;
}

const BILL = billFor({
  freshTokens: 64,
  cacheReadTokens: 40,
  cacheWriteTokens: 16,
  cacheWrite1hTokens: 0,
  outputTokens: 64,
  reasoningTokens: 32,
});

describe('a conforming answer', () => {
  test('keeps its bytes but for model and usage, which carries the bill', async () => {
    const body = JSON.stringify(answerOf('reasoning-parallel-tools'));
    const answer = spliceResponse(Buffer.from(body), TERMS);
    expect(answer.usage).toEqual({ state: 'reported', usage: BILL.usage });
    expect(answer.relayedBytes).toBe(86);
    const written = answer.write(BILL);
    const [before, after] = body.split('"model":"host-model-2026-01-01"');
    expect(written.toString().startsWith(`${before}"model":"catalog-model"${after!.slice(0, 40)}`)).toBe(true);
    const read = await readBufferedWithSdk(written);
    expect(read.usage).toMatchObject({ input_tokens: 120, total_tokens: 184, cost: 0.000001234, cost_nanousd: 1234 });
    expect(read.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call']);
  });
});

describe('what a host left out', () => {
  const bare = {
    id: 'gen-1',
    object: 'response',
    model: 'x',
    provider: 'somebody',
    service_tier: 'on_demand',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
      { type: 'function_call', name: 'f', arguments: { a: 1 } },
    ],
    usage: { input_tokens: 3, output_tokens: 2, cost: 0.5 },
  };

  test('is added: every field, ids, calls that can be answered', () => {
    const written = JSON.parse(
      spliceResponse(Buffer.from(JSON.stringify(bare)), TERMS)
        .write(billFor())
        .toString(),
    );
    expect(faultsOfResponse(written)).toEqual([]);
    for (const name of RESPONSE_FIELDS) expect(written, name).toHaveProperty(name);
    expect(written).toMatchObject({
      status: 'completed',
      created_at: TERMS.createdS,
      store: false,
      model: 'catalog-model',
    });
    expect(written.output).toMatchObject([
      { id: 'msg_0123456789_0', status: 'completed' },
      { id: 'fc_0123456789_1', call_id: 'call_0123456789_1', arguments: '{"a":1}' },
    ]);
    expect(written.provider).toBeUndefined();
    expect(written.usage.cost).toBe(0.000001234);
  });

  test('the labels of the caller are repeated', () => {
    const terms = { ...TERMS, request: { metadata: { a: 'b' } } };
    const body = Buffer.from(JSON.stringify(answerOf('text')));
    const written = JSON.parse(spliceResponse(body, terms).write(billFor()).toString());
    expect(written.metadata).toEqual({ a: 'b' });
  });

  test('a trace that is not wanted is taken out', () => {
    const body = Buffer.from(JSON.stringify(answerOf('reasoning-parallel-tools')));
    const answer = spliceResponse(body, { ...TERMS, hideReasoning: true });
    const written = JSON.parse(answer.write(BILL).toString());
    expect(written.output[0]).toMatchObject({ summary: [], encrypted_content: 'enc-AAAA=' });
    expect(answer.relayedBytes).toBe(64);
  });
});

test('annotations count as content, as in a stream', () => {
  const annotation = {
    type: 'url_citation',
    start_index: 0,
    end_index: 2,
    url: 'https://tide.example',
    title: 'Tides',
  };
  const part = { type: 'output_text', text: 'hi', annotations: [annotation], logprobs: [] };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const place = { output_index: 0, item_id: 'msg_1', content_index: 0 };
  const body = { id: 'resp_1', object: 'response', status: 'completed', model: 'x', output: [item] };
  const relay = mendStream(TERMS);
  const stream = framesOf([
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', ...place, delta: 'hi' },
    { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: body },
  ]);
  relayInPieces(relay, stream, 99);
  expect(spliceResponse(Buffer.from(JSON.stringify(body)), TERMS).relayedBytes).toBe(relay.relayedBytes);
});

describe('what is no answer', () => {
  test.each(['', '[]', '{"choices":[]}', '{"output":[],"status":"in_progress"}', '{"output":[],"status":"cancelled"}'])(
    '%s',
    (body) => {
      expect(() => spliceResponse(Buffer.from(body), TERMS)).toThrow(HostResponseBroken);
      expect(body.includes('output') ? null : responseAsStream(Buffer.from(body))).toBeNull();
    },
  );

  test('a failed response hands on the host’s own error', () => {
    const failed = {
      object: 'response',
      status: 'failed',
      output: [],
      error: { code: 'invalid_prompt', message: 'no' },
    };
    const read = (): unknown => spliceResponse(Buffer.from(JSON.stringify(failed)), TERMS);
    expect(read).toThrow(expect.objectContaining({ hostError: expect.objectContaining({ kind: 'request' }) }));
  });
});

describe('a whole answer where a stream was asked for', () => {
  test.each(['text', 'reasoning-parallel-tools', 'incomplete', 'refusal', 'raw-trace-nameless'])(
    '%s becomes the stream that would have told it',
    async (name) => {
      const answer = answerOf(name);
      const frames = responseAsStream(Buffer.from(JSON.stringify(answer)))!;
      const text = relayInPieces(mendStream(TERMS), frames, 13);
      expect(faultsOfStream(text)).toEqual([]);
      const { final } = await readWithSdk(text);
      const ids = (answer.output as Json[]).map(({ id }) => id);
      expect(final).toMatchObject({ status: answer.status, model: 'catalog-model' });
      expect(final.output.map(({ id }) => id)).toEqual(ids);
    },
  );
});
