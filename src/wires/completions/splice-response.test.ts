import { describe, expect, test } from 'vitest';
import { BILL, feed, RELAY_TERMS } from '../../../test/chat-wire.ts';
import { completionFaults, textsOf } from '../../../test/completions-conformity.ts';
import { ownRecordings } from '../../../test/small-wires.ts';
import { HostResponseBroken, type RelayTerms } from '../wire.ts';
import { mendStream } from './mend.ts';
import { responseAsStream, spliceResponse } from './splice-response.ts';

type Fields = Record<string, unknown>;

const WHOLE = ownRecordings('completions').filter(({ mode, status }) => mode === 'buffered' && status === 200);

function read(body: unknown, more: Partial<RelayTerms> = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return spliceResponse(bytes, { ...RELAY_TERMS, ...more });
}

const written = (body: unknown, more: Partial<RelayTerms> = {}): Fields =>
  JSON.parse(read(body, more).write(BILL).toString());

function broken(body: unknown): HostResponseBroken {
  try {
    read(body);
  } catch (error) {
    if (error instanceof HostResponseBroken) return error;
    throw error;
  }
  throw new Error('Nothing was broken.');
}

describe('a whole answer', () => {
  test.each(WHOLE)('$id: $covers', ({ body, usage }) => {
    const answer = read(body);
    const host = JSON.parse(body.toString()) as { choices: { text: string }[] };
    expect(answer.usage).toMatchObject({
      state: 'reported',
      usage: { freshTokens: usage!.prompt_tokens, outputTokens: usage!.completion_tokens },
    });
    expect(answer.relayedBytes).toBe(host.choices.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
    const bytes = answer.write(BILL).toString();
    expect(bytes).toContain('"cost_nanousd":9007199254740993');
    expect(JSON.parse(bytes)).toEqual({
      ...host,
      model: 'bridge',
      usage: {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        cost: BILL.costUsd,
        cost_nanousd: 9007199254740992,
      },
    });
  });

  test('keeps every byte but those of the model and the usage', () => {
    const body =
      '{ "choices":[{"text":"\\u0041","index":0,"logprobs":null,"finish_reason":"stop"}],"id":"c","created":1,\n"object":"text_completion","usage":{},"model":"m" }';
    expect(read(body).write(BILL).toString()).toBe(
      body
        .replace('"m"', '"bridge"')
        .replace(
          '{}',
          `{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"cost":9007199.254740993,"cost_nanousd":9007199254740993}`,
        ),
    );
  });

  test('gets what the host forgot, and loses what names the host', () => {
    const answer = written({
      provider: 'Somewhere',
      choices: [{ text: 'a' }, { text: 'b', finish_reason: 'MAX_TOKENS' }, 7],
    });
    expect(answer).toMatchObject({
      id: 'cmpl-req_1',
      object: 'text_completion',
      created: 1_700_000_000,
      choices: [
        { text: 'a', index: 0, logprobs: null, finish_reason: 'stop' },
        { text: 'b', index: 1, logprobs: null, finish_reason: 'length' },
      ],
    });
    expect(answer).not.toHaveProperty('provider');
  });

  test('leaves out a trace that is not wanted', () => {
    const body = { choices: [{ text: 'a', reasoning: 'hm' }] };
    expect(JSON.stringify(written(body))).toContain('hm');
    expect(JSON.stringify(written(body, { hideReasoning: true }))).not.toContain('hm');
  });

  test('without usage says so', () => {
    expect(read({ choices: [{ text: 'a' }] }).usage).toEqual({ state: 'missing' });
  });
});

describe('what is no answer', () => {
  test.each(['', '[]', '{"choices":[]}', '{"choices":[{"message":{}}]}', '{"choices":"x"}'])('%s', (body) => {
    expect(broken(body).hostError).toBeNull();
  });

  test('is the host’s error where one stands in its place', () => {
    const error = { message: 'maximum context length is 2049 tokens', type: 'invalid_request_error' };
    expect(broken({ error }).hostError).toMatchObject({ kind: 'over_window', status: 400 });
    expect(
      broken({ choices: [{ text: '', finish_reason: 'error', error: { message: 'gone', code: 503 } }] }).hostError,
    ).toMatchObject({
      kind: 'unavailable',
    });
  });
});

describe('a whole answer where a stream was asked for', () => {
  test.each(WHOLE)('$id is one chunk of the same shape', ({ body, usage }) => {
    const relay = mendStream(RELAY_TERMS);
    const text = feed(relay, responseAsStream(body)!) + relay.closing(BILL);
    expect(completionFaults(text, { model: 'bridge', wantsUsage: true })).toEqual([]);
    const { choices } = JSON.parse(body.toString()) as { choices: { index: number; text: string }[] };
    expect(textsOf(text)).toEqual(Object.fromEntries(choices.map(({ index, text: said }) => [String(index), said])));
    expect(relay.usage).toMatchObject({ state: 'reported', usage: { outputTokens: usage!.completion_tokens } });
  });

  test('is an error, or nothing', () => {
    const relay = mendStream(RELAY_TERMS);
    feed(relay, responseAsStream(Buffer.from('{"error":{"message":"gone","code":500}}'))!);
    expect(relay.error).toMatchObject({ kind: 'unavailable', message: 'gone' });
    expect(responseAsStream(Buffer.from('<html>'))).toBeNull();
    expect(responseAsStream(Buffer.from('{"object":"text_completion"}'))).toBeNull();
  });
});
