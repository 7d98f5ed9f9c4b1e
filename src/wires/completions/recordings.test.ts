import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { BILL, feed, jsonText, RELAY_TERMS, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import { textsOf } from '../../../test/completions-conformity.ts';
import { corpusRecordings, ownRecordings, type Recording, withServer } from '../../../test/small-wires.ts';
import { completions } from './index.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';

const CORPUS = corpusRecordings('openai-completions');
const ALL = [...ownRecordings('completions'), ...CORPUS].filter(({ id }) => !id.startsWith('error'));
const WHOLE = ALL.filter(({ mode, status }) => mode === 'buffered' && status === 200);
const STREAMS = ALL.filter(({ mode }) => mode === 'stream');

function clientAt(origin: string): OpenAI {
  return new OpenAI({ apiKey: 'unused', baseURL: `${origin}/v1`, maxRetries: 0 });
}

test.skipIf(CORPUS.length > 0)('recorded traffic is not on this machine: only own recordings are read', () => {
  expect(ALL.length).toBeGreaterThan(0);
});

describe('requests', () => {
  test.each(ALL)('$id: what the caller sent reaches the host as it was written', ({ request }) => {
    const text = jsonText(request.toString());
    const peeked = peek(text);
    const body = text.value as { model: string; prompt: unknown; n?: number; max_tokens?: number };
    const prompts = Array.isArray(body.prompt) && typeof body.prompt[0] !== 'number' ? body.prompt.length : 1;
    expect(peeked.answers).toBe(prompts * (body.n ?? 1));
    const outputLimit = peeked.outputLimit?.tokens ?? peeked.defaultOutputLimit;
    const sent = completions.relay.spliceRequest(text, peeked, {
      ...UPSTREAM_TERMS,
      hostModel: body.model,
      outputLimit,
    });
    const asked = peeked.stream ? { stream_options: { include_usage: true } } : {};
    expect(JSON.parse(sent.toString())).toEqual({ ...body, max_tokens: outputLimit, ...asked });
  });
});

describe('the official client reads', () => {
  test.each(WHOLE)('$id: $covers', async ({ body, usage }) => {
    const answer = completions.relay.spliceResponse(body, RELAY_TERMS);
    expect(answer.usage).toMatchObject({
      state: 'reported',
      usage: { freshTokens: usage!.prompt_tokens, outputTokens: usage!.completion_tokens },
    });
    const read = await withServer(
      () => ({ body: answer.write(BILL) }),
      (origin) => clientAt(origin).completions.create({ model: 'bridge', prompt: 'x' }),
    );
    const host = JSON.parse(body.toString()) as OpenAI.Completion;
    expect(read.object).toBe('text_completion');
    expect(read.choices).toEqual(host.choices);
    expect(read.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
  });

  test.each(STREAMS)('$id as a stream: $covers', async ({ body, usage }) => {
    const relay = mendStream(RELAY_TERMS);
    const stream = feed(relay, body, 11) + relay.closing(BILL);
    expect(relay.usage).toMatchObject({
      usage: { freshTokens: usage!.prompt_tokens, outputTokens: usage!.completion_tokens },
    });
    const texts: Record<string, string> = {};
    const ends: Record<string, string> = {};
    let counted: unknown = null;
    await withServer(
      () => ({ type: 'text/event-stream', body: stream }),
      async (origin) => {
        const chunks = await clientAt(origin).completions.create({ model: 'bridge', prompt: 'x', stream: true });
        for await (const chunk of chunks) {
          counted = chunk.usage;
          for (const { index, text, finish_reason: reason } of chunk.choices) {
            texts[index] = (texts[index] ?? '') + text;
            if (reason) ends[index] = reason;
          }
        }
      },
    );
    expect(texts).toEqual(textsOf(body.toString()));
    expect(Object.keys(ends)).toEqual(Object.keys(texts));
    expect(counted).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 });
  });

  test('the error envelope', async () => {
    const { body } = ALL.find(({ id }) => id === 'unknown-model')!;
    expect(completions.relay.readError(404, body)).toMatchObject({ kind: 'credentials', code: 'model_not_found' });
  });
});

describe('a recorded stream', () => {
  test.each(STREAMS)('$id cut at any byte never passes for whole before its end', ({ body }: Recording) => {
    const answers = Object.keys(textsOf(body.toString())).length;
    const finishes = [...body.toString().matchAll(/"finish_reason":"/g)].length;
    let wholeAt = body.length;
    for (let cut = body.length - 1; cut > 0; cut -= 13) {
      const relay = mendStream(RELAY_TERMS);
      feed(relay, body.subarray(0, cut));
      if (relay.error === null && (relay.terminal || relay.mayEndHere)) wholeAt = cut;
    }
    const before = body.subarray(0, wholeAt).toString();
    expect([...before.matchAll(/"finish_reason":"/g)].length).toBeGreaterThanOrEqual(Math.min(answers, finishes));
  });
});
