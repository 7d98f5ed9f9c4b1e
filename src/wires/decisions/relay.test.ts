import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { BILL, jsonText, RELAY_TERMS, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import { withServer } from '../../../test/small-wires.ts';
import { systemone } from '../systemone/index.ts';
import { HostResponseBroken } from '../wire.ts';
import { decisions } from './index.ts';

type Fields = Record<string, unknown>;

const { spliceResponse, spliceRequest } = decisions.relay;

const ASK = {
  model: 'bridge',
  input: [{ role: 'user' as const, content: 'The 09:04 arrived at 09:31.' }],
  questions: [
    { type: 'predicate' as const, name: 'late', instructions: 'Is it late?' },
    {
      type: 'choice' as const,
      name: 'pier',
      instructions: [
        { type: 'input_text' as const, text: 'Which pier?' },
        { type: 'input_json' as const, data: { open: 2 } },
      ],
      choices: [{ value: 'north', description: 'the new one' }, { value: 'south' }],
    },
    {
      type: 'choice' as const,
      instructions: 'Refund?',
      choices: [{ value: true }, { value: false, description: 'never' }],
    },
    {
      type: 'score' as const,
      name: 'haste',
      instructions: [{ type: 'input_text' as const, text: 'How urgent?' }],
      levels: [{ label: 'none' }, { label: 'some', description: 'within the hour' }, { label: 'none' }],
    },
  ],
};

const OLDER_ANSWERS = {
  late: { type: 'noul', noul: 0.92 },
  pier: { type: 'choice', choice: 'north', confidence: 0.8, probabilities: { north: 0.9, south: 0.1 } },
  question_3: { type: 'choice', choice: 'false', confidence: 0.3, probabilities: { true: 0.35, false: 0.65 } },
  haste: { type: 'score', score: 1.25, confidence: 0.5, legend: {}, probabilities: { 0: 0.1, 1: 0.55, 2: 0.35 } },
};
const HOST_ANSWER = {
  model: 'arbiter-2026-10-02',
  answers: OLDER_ANSWERS,
  usage: { input_tokens: 45, output_tokens: 0 },
};

const NEWER_ANSWERS = [
  { type: 'predicate', name: 'late', probability: 0.92 },
  {
    type: 'choice',
    name: 'pier',
    choice: 'north',
    confidence: 0.8,
    probabilities: [
      { value: 'north', probability: 0.9 },
      { value: 'south', probability: 0.1 },
    ],
  },
  {
    type: 'choice',
    name: null,
    choice: false,
    confidence: 0.3,
    probabilities: [
      { value: true, probability: 0.35 },
      { value: false, probability: 0.65 },
    ],
  },
  {
    type: 'score',
    name: 'haste',
    score: 1.25,
    confidence: 0.5,
    probabilities: [
      { value: 0, label: 'none', probability: 0.1 },
      { value: 1, label: 'some', probability: 0.55 },
      { value: 2, label: 'none', probability: 0.35 },
    ],
  },
];

function write(body: unknown, more: object = {}): string {
  const text = jsonText(body);
  return spliceRequest(text, decisions.client.peek(text, {}), { ...UPSTREAM_TERMS, ...more }).toString();
}

function read(answer: unknown, request: unknown = ASK) {
  return spliceResponse(Buffer.from(JSON.stringify(answer)), { ...RELAY_TERMS, request });
}

const answersOf = (answer: unknown, request: unknown = ASK): unknown =>
  (JSON.parse(read(answer, request).write(BILL).toString()) as Fields).answers;

describe('questions', () => {
  test('are asked in the older spelling', () => {
    expect(JSON.parse(write(ASK, { hostModel: 'host-name' }))).toEqual({
      model: 'host-name',
      state: ASK.input,
      questions: {
        late: { type: 'noul', instructions: 'Is it late?' },
        pier: {
          type: 'choice',
          instructions: ['Which pier?', { open: 2 }],
          criteria: { north: 'the new one', south: null },
        },
        question_3: { type: 'choice', instructions: 'Refund?', criteria: { true: null, false: 'never' } },
        haste: { type: 'score', instructions: 'How urgent?', criteria: ['none', 'some: within the hour', 'none'] },
      },
    });
  });

  test('are such that the older spelling takes them', () => {
    expect(systemone.client.peek(jsonText(write(ASK)), {}).model).toBe('bridge');
  });

  test('that have no name get one that nobody gave', () => {
    const questions = [
      { type: 'predicate' },
      { type: 'predicate', name: 'question_1' },
      { type: 'predicate', name: 'question_1_' },
    ];
    expect(Object.keys(JSON.parse(write({ ...ASK, questions })).questions)).toEqual([
      'question_1__',
      'question_1',
      'question_1_',
    ]);
  });

  test('are about what the caller wrote, digit for digit', () => {
    const body = '{"model":"bridge","questions":[{"type":"predicate"}], "input" : {"n":9007199254740993,"f":1.0} }';
    expect(write(body)).toContain('"state":{"n":9007199254740993,"f":1.0}}');
  });

  test.each(['', '{"type":"input_text","text":"a"},'])(
    'say in structures what the caller wrote, after [%s',
    (before) => {
      const data = '{"id":9007199254740993,"f":1.0,"most":1e400}';
      const instructions = `[${before}{"type":"input_json","data":${data}}]`;
      const body = `{"model":"bridge","input":null,"questions":[{"type":"predicate"},{"type":"predicate","instructions":${instructions}}]}`;
      expect(write(body)).toContain(data);
    },
  );

  test('say who the user is only to a host that asks', () => {
    const body = { ...ASK, safety_identifier: 's', user: 'u', stream: false, store: false };
    expect(Object.keys(JSON.parse(write(body)))).toEqual(['model', 'questions', 'state']);
    expect(JSON.parse(write(body, { forwards: ['safety_identifier'] }))).toMatchObject({ safety_identifier: 's' });
  });
});

describe('answers', () => {
  test('come back in the order and the words of the questions', () => {
    expect(answersOf(HOST_ANSWER)).toEqual(NEWER_ANSWERS);
  });

  test('say which version answered, what was counted and what it cost', () => {
    const answer = read(HOST_ANSWER);
    expect(answer.usage).toMatchObject({ state: 'reported', usage: { freshTokens: 45, outputTokens: 0 } });
    const bytes = answer.write(BILL).toString();
    expect(bytes).toContain('"cost_nanousd":9007199254740993}}');
    expect(JSON.parse(bytes)).toMatchObject({
      model: 'arbiter-2026-10-02',
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10,
        cost: BILL.costUsd,
      },
    });
    expect(JSON.parse(read({ answers: OLDER_ANSWERS }).write(BILL).toString()).model).toBe('bridge');
  });

  test('may be declined one by one', () => {
    const answers = { ...OLDER_ANSWERS, question_3: { type: 'refusal' } };
    expect((answersOf({ ...HOST_ANSWER, answers }) as Fields[])[2]).toEqual({ type: 'refusal', name: null });
  });

  test('give no share to what the host does not speak of, whatever its name', () => {
    const request = { questions: [{ type: 'choice', choices: [{ value: 'toString' }, { value: 'b' }] }] };
    const answers = { question_1: { type: 'choice', choice: 'b', confidence: 1, probabilities: { b: 1 } } };
    expect(answersOf({ answers }, request)).toMatchObject([
      {
        probabilities: [
          { value: 'toString', probability: 0 },
          { value: 'b', probability: 1 },
        ],
      },
    ]);
  });

  test.each([
    ['a question left out', { late: undefined }],
    ['no probability', { late: { type: 'noul' } }],
    ['a choice that was not offered', { pier: { ...OLDER_ANSWERS.pier, choice: 'east' } }],
    ['no confidence', { pier: { ...OLDER_ANSWERS.pier, confidence: undefined } }],
    ['no score', { haste: { ...OLDER_ANSWERS.haste, score: null } }],
  ])('with %s are none', (_, more) => {
    expect(() => read({ ...HOST_ANSWER, answers: { ...OLDER_ANSWERS, ...more } })).toThrow(HostResponseBroken);
  });

  test('with numbers that no computer holds are none', () => {
    const body = JSON.stringify(HOST_ANSWER).replace('0.92', '1e400');
    expect(() => spliceResponse(Buffer.from(body), { ...RELAY_TERMS, request: ASK })).toThrow(HostResponseBroken);
  });

  test('that no host gave are none', () => {
    expect(() => spliceResponse(Buffer.from('oops'), { ...RELAY_TERMS, request: ASK })).toThrow(HostResponseBroken);
  });
});

test('the official client asks and reads', async () => {
  const decision = await withServer(
    (path, sent) => {
      expect(path).toBe('/v1/decisions');
      const text = jsonText(sent.toString());
      decisions.client.peek(text, {});
      return { body: read(HOST_ANSWER, text.value).write(BILL) };
    },
    (origin) => new OpenAI({ apiKey: 'unused', baseURL: `${origin}/v1`, maxRetries: 0 }).decisions.create(ASK),
  );
  expect(decision.answers).toEqual(NEWER_ANSWERS);
  expect(decision.usage.total_tokens).toBe(10);
});
