import { describe, expect, test } from 'vitest';
import { jsonText, refusalBy } from '../../../test/chat-wire.ts';
import { LIMITS } from '../../limits.ts';
import { peek } from './peek.ts';

const QUESTION = { type: 'noul', instructions: 'Is it late?' };
const ASK = { model: 'arbiter', state: { ferry: 7 }, questions: { late: QUESTION } };

const peekAt = (more: object) => peek(jsonText({ ...ASK, ...more }));
const refusal = (more: object) => refusalBy(() => peekAt(more));
const asking = (question: unknown) => refusal({ questions: { q: question } });

describe('a request', () => {
  test('needs a decision model, and its input weighs as it was written', () => {
    const text = jsonText(ASK);
    expect(peek(text)).toMatchObject({
      model: 'arbiter',
      stream: false,
      defaultOutputLimit: 0,
      answers: 1,
      needs: [{ capability: 'decisions', param: 'model' }],
      size: { textBytes: 0, toolBytes: text.bytes.length },
      labels: null,
      reasoning: null,
    });
  });

  test.each(['late', '', { a: 1 }, [1, 'b'], null])('may be about %j', (state) => {
    expect(peekAt({ state }).model).toBe('arbiter');
  });

  test.each([
    { type: 'noul' },
    { type: 'noul', instructions: null, criteria: null },
    { type: 'noul', instructions: { ask: 'late?' }, criteria: {} },
    { type: 'noul', instructions: ['a', 1], criteria: { true: 'yes', false: null } },
    { type: 'choice', criteria: { a: null, b: 'the other' } },
    { type: 'choice', criteria: Object.fromEntries(Array.from({ length: 255 }, (_, at) => [`l${at}`, null])) },
    { type: 'score', criteria: ['low', { level: 'high' }] },
    { type: 'score', criteria: Array(10).fill(null), weight: 2 },
  ])('may ask %j', (question) => {
    expect(peekAt({ questions: { q: question } }).model).toBe('arbiter');
  });

  test('may have names that every object knows', () => {
    const names =
      '{"model":"arbiter","state":null,"questions":{"__proto__":{"type":"noul"},"toString":{"type":"noul"}}}';
    expect(peek(jsonText(names)).model).toBe('arbiter');
  });

  test('keeps labels, and lets through what asks for nothing', () => {
    expect(peekAt({ user: 'u-1', stream: false, store: false, models: ['arbiter'] }).labels).toEqual({ user: 'u-1' });
  });
});

describe('what is refused', () => {
  test.each([
    [{ model: null }, 'model', 'missing_required_parameter'],
    [{ state: undefined }, 'state', 'missing_required_parameter'],
    [{ state: 7 }, 'state', 'invalid_value'],
    [{ state: true }, 'state', 'invalid_value'],
    [{ questions: undefined }, 'questions', 'missing_required_parameter'],
    [{ questions: null }, 'questions', 'missing_required_parameter'],
    [{ questions: {} }, 'questions', 'invalid_value'],
    [{ questions: [QUESTION] }, 'questions', 'invalid_value'],
    [{ stream: true }, 'stream', 'unsupported_parameter'],
    [{ provider: { order: ['x'] } }, 'provider', 'unsupported_feature'],
    [{ store: true }, 'store', 'unsupported_feature'],
  ])('%j by its name', (more, param, code) => {
    expect(refusal(more)).toMatchObject({ param, code });
  });

  test.each([
    ['late?', 'questions.q'],
    [null, 'questions.q'],
    [{}, 'questions.q.type'],
    [{ type: 'predicate' }, 'questions.q.type'],
    [{ type: 'noul', instructions: 7 }, 'questions.q.instructions'],
    [{ type: 'noul', criteria: ['a'] }, 'questions.q.criteria'],
    [{ type: 'noul', criteria: { maybe: 'x' } }, 'questions.q.criteria.maybe'],
    [{ type: 'noul', criteria: { true: 1 } }, 'questions.q.criteria.true'],
    [{ type: 'choice' }, 'questions.q.criteria'],
    [{ type: 'choice', criteria: ['a', 'b'] }, 'questions.q.criteria'],
    [{ type: 'choice', criteria: { a: null } }, 'questions.q.criteria'],
    [
      { type: 'choice', criteria: Object.fromEntries(Array.from({ length: 256 }, (_, at) => [`l${at}`, null])) },
      'questions.q.criteria',
    ],
    [{ type: 'choice', criteria: { a: null, b: 5 } }, 'questions.q.criteria.b'],
    [{ type: 'score' }, 'questions.q.criteria'],
    [{ type: 'score', criteria: { 0: 'a', 1: 'b' } }, 'questions.q.criteria'],
    [{ type: 'score', criteria: ['a'] }, 'questions.q.criteria'],
    [{ type: 'score', criteria: Array(11).fill('a') }, 'questions.q.criteria'],
    [{ type: 'score', criteria: ['a', false] }, 'questions.q.criteria[1]'],
  ])('the question %j at its place', (question, param) => {
    expect(asking(question).param).toBe(param);
    expect(['invalid_value', 'unsupported_feature']).toContain(asking(question).code);
  });

  test('more questions than one call may ask', () => {
    const many = Object.fromEntries(
      Array.from({ length: LIMITS.decisionQuestionsMax + 1 }, (_, at) => [`q${at}`, QUESTION]),
    );
    expect(refusal({ questions: many })).toMatchObject({ param: 'questions' });
  });

  test('without a page of the caller’s own words', () => {
    const { param } = refusal({
      questions: { ['n'.repeat(4000)]: { type: 'choice', criteria: { ['l'.repeat(4000)]: 1, b: 1 } } },
    });
    expect(param!.length).toBeLessThan(300);
  });

  test('a body that is not an object', () => {
    expect(refusalBy(() => peek(jsonText('[]')))).toMatchObject({ code: 'invalid_request_body' });
  });
});
