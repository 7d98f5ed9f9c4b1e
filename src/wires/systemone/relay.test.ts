import { BadRequestError, choice, noul, score, TypeSafeClient } from '@typesafe-ai/sdk';
import { describe, expect, test } from 'vitest';
import { BILL, jsonText, RELAY_TERMS, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import { type ServedResponse, withServer } from '../../../test/small-wires.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { HostResponseBroken } from '../wire.ts';
import { systemone } from './index.ts';

type Fields = Record<string, unknown>;

const ANSWERS = {
  late: { type: 'noul', noul: 0.92 },
  pier: { type: 'choice', choice: 'north', confidence: 0.8, probabilities: { north: 0.9, south: 0.1 } },
  haste: {
    type: 'score',
    score: 1.25,
    confidence: 0.5,
    legend: { 0: 'none', 1: 'some', 2: null },
    probabilities: { 0: 0.1, 1: 0.55, 2: 0.35 },
  },
};
const HOST_ANSWER = { model: 'arbiter-2026-10-02', answers: ANSWERS, usage: { input_tokens: 45, output_tokens: 3 } };
const REQUEST = { model: 'arbiter', state: 'x', questions: { late: {}, pier: {}, haste: {} } };

const { spliceResponse, spliceRequest, readError } = systemone.relay;

function read(answer: unknown, request: unknown = REQUEST) {
  const body = Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
  return spliceResponse(body, { ...RELAY_TERMS, request });
}

const written = (answer: unknown): Fields => JSON.parse(read(answer).write(BILL).toString()) as Fields;

describe('what leaves', () => {
  const write = (body: unknown, more: object = {}): string => {
    const text = jsonText(body);
    return spliceRequest(text, systemone.client.peek(text, {}), { ...UPSTREAM_TERMS, ...more }).toString();
  };
  const BODY =
    '{"questions":{ "late":{"type":"noul"}}, "state":{"n":9007199254740993,"f":1.0},"model":"bridge" ,"extra":null}';

  test('is what the caller wrote, to the byte', () => {
    expect(write(BODY)).toBe(BODY);
    expect(write(BODY, { hostModel: 'host-name' })).toBe(BODY.replace('"bridge"', '"host-name"'));
  });

  test('says nothing that only this gateway understands, nor who the user is', () => {
    const body = { model: 'bridge', state: null, questions: { q: { type: 'noul' } } };
    expect(JSON.parse(write({ ...body, stream: false, store: false, user: 'u' }))).toEqual(body);
    expect(JSON.parse(write({ ...body, user: 'u' }, { forwards: ['user'] }))).toEqual({ ...body, user: 'u' });
  });
});

describe('an answer', () => {
  test('keeps the host’s words, and says what it cost', () => {
    const answer = read(HOST_ANSWER);
    expect(answer.usage).toMatchObject({ state: 'reported', usage: { freshTokens: 45, outputTokens: 3 } });
    const bytes = answer.write(BILL).toString();
    expect(bytes).toContain('"cost_nanousd":9007199254740993');
    expect(JSON.parse(bytes)).toEqual({
      ...HOST_ANSWER,
      usage: { input_tokens: 7, output_tokens: 3, cost: BILL.costUsd, cost_nanousd: 9007199254740992 },
    });
  });

  test('loses what speaks of the host, and gets a model where the host names none', () => {
    const answer = {
      answers: ANSWERS,
      provider: 'Somewhere',
      usage: { input_tokens: 1, cost: 3, cost_nanousd: 9, upstream_cost: 1, extra: 1 },
    };
    expect(written(answer)).toEqual({
      answers: ANSWERS,
      model: 'bridge',
      usage: { input_tokens: 7, output_tokens: 3, extra: 1, cost: BILL.costUsd, cost_nanousd: 9007199254740992 },
    });
  });

  test('may decline a question', () => {
    expect(written({ ...HOST_ANSWER, answers: { ...ANSWERS, late: { type: 'refusal' } } }).answers).toMatchObject({
      late: { type: 'refusal' },
    });
  });

  test.each([
    ['no JSON', '<html>'],
    ['no answers', { model: 'm' }],
    ['answers as a list', { answers: [] }],
    ['a question left out', { answers: { late: ANSWERS.late } }],
    ['a question with no more than a number', { answers: { ...ANSWERS, late: 0.5 } }],
  ])('with %s is none', (_, answer) => {
    expect(() => read(answer)).toThrow(HostResponseBroken);
  });

  test('is not taken from what every object has', () => {
    const request = JSON.parse('{"questions":{"__proto__":{"type":"noul"}}}');
    expect(() => read({ answers: {} }, request)).toThrow(HostResponseBroken);
  });

  test('that is the host’s error says so', () => {
    try {
      read({ error: { message: 'slow down', code: 429 } });
      expect.unreachable();
    } catch (error) {
      expect((error as HostResponseBroken).hostError).toMatchObject({ kind: 'rate' });
    }
  });
});

describe('usage', () => {
  test.each([
    [undefined, { state: 'missing' }],
    ['7', { state: 'missing', defect: 'usage is not an object' }],
    [{}, { state: 'missing', defect: "the host's input tokens are not a valid count" }],
    [
      { input_tokens: 9, output_tokens: -1 },
      { state: 'missing', defect: "the host's output tokens are not a valid count" },
    ],
  ])('%j', (usage, reading) => {
    expect(read({ ...HOST_ANSWER, usage }).usage).toEqual(reading);
  });

  test('has its cached part apart', () => {
    const usage = { input_tokens: 9, input_tokens_details: { cached_tokens: 4 } };
    expect(read({ ...HOST_ANSWER, usage }).usage).toMatchObject({
      usage: { freshTokens: 5, cacheReadTokens: 4, outputTokens: 0 },
    });
  });
});

describe('the official client', () => {
  /** The wire as a gateway uses it: peek, write, let the host answer, read. */
  function answer(sent: Buffer): ServedResponse {
    const text = jsonText(sent.toString());
    try {
      const peeked = systemone.client.peek(text, {});
      const upstream = JSON.parse(
        spliceRequest(text, peeked, { ...UPSTREAM_TERMS, hostModel: 'host-name' }).toString(),
      );
      expect(upstream).toEqual({ ...(text.value as Fields), model: 'host-name' });
      return { body: read(HOST_ANSWER, text.value).write(BILL) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return systemone.client.writeError(error, 'req_1');
    }
  }

  const ask = async <T>(use: (client: TypeSafeClient) => Promise<T>): Promise<T> =>
    await withServer(
      (path, sent) => {
        expect(path).toBe('/v1/systemone');
        return answer(sent);
      },
      (origin) =>
        use(
          new TypeSafeClient({ apiKey: 'unused', baseURL: origin, defaultModel: 'arbiter', retry: { maxRetries: 0 } }),
        ),
    );

  test('asks all three kinds and reads what they say', async () => {
    const result = await ask((client) =>
      client.systemOne({
        state: { log: ['09:04 left', '09:31 arrived'] },
        questions: {
          late: noul('Is it late?', { true: 'after half past nine' }),
          pier: choice({ ask: 'Which pier?' }, { north: null, south: 'the old one' }),
          haste: score(null, ['none', 'some', null]),
        },
      }),
    );
    expect(result.model).toBe('arbiter-2026-10-02');
    expect(result.answers.late.noul).toBe(0.92);
    expect(result.answers.pier.choice).toBe('north');
    expect(result.answers.pier.probabilities.south).toBe(0.1);
    expect(result.answers.haste).toMatchObject({
      score: 1.25,
      confidence: 0.5,
      legend: { 1: 'some' },
      probabilities: { 2: 0.35 },
    });
    expect(result.usage).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  });

  test('is told what was wrong', async () => {
    const wrong = ask((client) =>
      client.systemOne({ state: null, questions: { pier: choice('Which?', { north: null }) } }),
    );
    await expect(wrong).rejects.toThrow(BadRequestError);
    await expect(wrong).rejects.toThrow('`questions.pier.criteria` must be an object of 2 to 255 labels.');
  });
});

test('a host’s validator is understood', () => {
  const body = Buffer.from('{"detail":[{"loc":["body","questions","q","type"],"msg":"Input should be \'noul\'"}]}');
  expect(readError(422, body)).toMatchObject({
    kind: 'request',
    message: "body.questions.q.type: Input should be 'noul'",
  });
});
