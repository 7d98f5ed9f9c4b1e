import { describe, expect, test } from 'vitest';
import { jsonText, refusalBy } from '../../../test/chat-wire.ts';
import { LIMITS } from '../../limits.ts';
import { peek } from './peek.ts';

const QUESTION = { type: 'predicate', name: 'late', instructions: 'Is it late?' };
const ASK = { model: 'arbiter', input: '09:31', questions: [QUESTION] };

const peekAt = (more: object) => peek(jsonText({ ...ASK, ...more }));
const refusal = (more: object) => refusalBy(() => peekAt(more));
const asking = (...questions: unknown[]) => refusal({ questions });

const TWO = [{ value: 'north' }, { value: 'south' }];

describe('a request', () => {
  test('needs a decision model, and its input weighs as it was written', () => {
    const text = jsonText({ ...ASK, safety_identifier: 's-1' });
    expect(peek(text)).toMatchObject({
      model: 'arbiter',
      stream: false,
      needs: [{ capability: 'decisions', param: 'model' }],
      size: { toolBytes: text.bytes.length },
      labels: { safety_identifier: 's-1' },
    });
  });

  test.each([
    null,
    { log: 1 },
    [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_json', data: { type: 'report' } },
        ],
      },
    ],
  ])('may be about %j', (input) => {
    expect(peekAt({ input }).model).toBe('arbiter');
  });
});

test.each([
  { usage: { include: true } },
  { temperature: null, tools: [], extra: {}, note: '', flag: false },
  { stream: false, metadata: {} },
])('accepts %j, which asks for nothing', (more) => {
  expect(peekAt(more).model).toBe('arbiter');
});

describe('what is refused', () => {
  test.each([
    [{ usage: true }, 'usage', 'invalid_value'],
    [{ model: 7 }, 'model', 'invalid_value'],
    [{ input: undefined }, 'input', 'missing_required_parameter'],
    [{ input: 7 }, 'input', 'invalid_value'],
    [
      { input: [{ role: 'user', content: ['a', { type: 'input_image', image_url: 'data:,' }] }] },
      'input[0].content[1]',
      'unsupported_feature',
    ],
    [{ questions: undefined }, 'questions', 'missing_required_parameter'],
    [{ questions: {} }, 'questions', 'invalid_value'],
    [{ questions: [] }, 'questions', 'invalid_value'],
    [{ questions: Array(LIMITS.decisionQuestionsMax + 1).fill({ type: 'predicate' }) }, 'questions', 'invalid_value'],
    [{ stream: true }, 'stream', 'unsupported_parameter'],
    [{ models: ['a', 'b'] }, 'models', 'unsupported_feature'],
  ])('%j by its name', (more, param, code) => {
    expect(refusal(more)).toMatchObject({ param, code });
  });

  test.each([
    ['late?', 'questions[0]', 'invalid_value'],
    [{}, 'questions[0].type', 'invalid_value'],
    [{ type: 'noul' }, 'questions[0].type', 'invalid_value'],
    [{ ...QUESTION, name: '' }, 'questions[0].name', 'invalid_value'],
    [{ ...QUESTION, name: 7 }, 'questions[0].name', 'invalid_value'],
    [{ ...QUESTION, instructions: 7 }, 'questions[0].instructions', 'invalid_value'],
    [{ ...QUESTION, instructions: [] }, 'questions[0].instructions', 'invalid_value'],
    [{ ...QUESTION, instructions: ['a'] }, 'questions[0].instructions[0]', 'invalid_value'],
    [{ ...QUESTION, instructions: [{ type: 'input_text' }] }, 'questions[0].instructions[0]', 'invalid_value'],
    [
      { ...QUESTION, instructions: [{ type: 'input_image', image_url: 'x' }] },
      'questions[0].instructions[0]',
      'unsupported_feature',
    ],
    [{ ...QUESTION, criteria: {} }, 'questions[0].criteria', 'unsupported_parameter'],
    [{ ...QUESTION, choices: TWO }, 'questions[0].choices', 'unsupported_parameter'],
    [{ type: 'choice' }, 'questions[0].choices', 'invalid_value'],
    [{ type: 'choice', choices: [{ value: 'a' }] }, 'questions[0].choices', 'invalid_value'],
    [
      { type: 'choice', choices: Array.from({ length: 256 }, (_, at) => ({ value: `${at}` })) },
      'questions[0].choices',
      'invalid_value',
    ],
    [{ type: 'choice', choices: ['a', 'b'] }, 'questions[0].choices[0]', 'invalid_value'],
    [{ type: 'choice', choices: [{ value: 'a' }, { value: 7 }] }, 'questions[0].choices[1].value', 'invalid_value'],
    [{ type: 'choice', choices: [{ value: 'a' }, { value: 'a' }] }, 'questions[0].choices[1].value', 'invalid_value'],
    [
      { type: 'choice', choices: [{ value: true }, { value: 'true' }] },
      'questions[0].choices[1].value',
      'invalid_value',
    ],
    [
      { type: 'choice', choices: [...TWO, { value: 'x', description: 7 }] },
      'questions[0].choices[2].description',
      'invalid_value',
    ],
    [{ type: 'score' }, 'questions[0].levels', 'invalid_value'],
    [{ type: 'score', levels: Array(11).fill({ label: 'a' }) }, 'questions[0].levels', 'invalid_value'],
    [{ type: 'score', levels: [{ label: 'a' }, { value: 1 }] }, 'questions[0].levels[1].label', 'invalid_value'],
    [
      { type: 'score', levels: [{ label: 'a' }, { label: 'b', description: {} }] },
      'questions[0].levels[1].description',
      'invalid_value',
    ],
  ])('the question %j at its place', (question, param, code) => {
    expect(asking(question)).toMatchObject({ param, code });
  });

  test('a name given twice', () => {
    expect(asking(QUESTION, { type: 'predicate' }, QUESTION)).toMatchObject({ param: 'questions[2].name' });
  });

  test('a body that is not an object', () => {
    expect(refusalBy(() => peek(jsonText('null')))).toMatchObject({ code: 'invalid_request_body' });
  });
});
