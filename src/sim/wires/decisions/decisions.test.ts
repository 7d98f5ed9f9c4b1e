import { choice, noul, score, TypeSafeClient, TypeSafeError, UnprocessableEntityError } from '@typesafe-ai/sdk';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, SimCaller } from '../../../../test/sim-caller.ts';
import { startSim } from '../../sim.ts';
import type { Sim } from '../../sim-handle.ts';
import { estimate } from './likelihood.ts';

const STATE = { document: 'I was charged twice.' };
const QUESTIONS = {
  billing: noul('Is this about billing?', { true: 'money', false: null }),
  team: choice('Who takes it?', { sales: null, support: 'existing customers', other: null }),
  anger: score('How angry?', ['calm', 'annoyed', 'furious']),
};

let sim: Sim;
let typed: TypeSafeClient;
let openai: OpenAI;
let systemOne: SimCaller<{ answers: Json; usage: Json }>;

beforeAll(async () => {
  sim = await startSim();
  const retry = { maxRetries: 0 };
  typed = new TypeSafeClient({ apiKey: 'k', baseURL: sim.url, defaultModel: 'sim-decide', logLevel: 'off', retry });
  openai = new OpenAI({ baseURL: `${sim.url}/v1`, apiKey: 'k', maxRetries: 0 });
  systemOne = new SimCaller(sim, '/v1/systemone', { model: 'sim-decide', state: STATE, questions: QUESTIONS });
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

describe('likelihoods', () => {
  test('add up to one, agree with the likeliest, and are made up once', () => {
    const labels = fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 255 });
    fc.assert(
      fc.property(fc.string(), labels, (subject, outcomes) => {
        const { shares, best, confidence, expected } = estimate(subject, outcomes);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
        expect(shares.every((share) => share >= 0 && share <= shares[best]!)).toBe(true);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        expect(expected).toBeLessThanOrEqual(outcomes.length - 1);
        expect(estimate(subject, outcomes).shares).toEqual(shares);
      }),
    );
  });
});

describe('the vendor’s own client, unmodified', () => {
  test('asks three kinds of question and reads typed answers', async () => {
    const { data, requestId } = await typed.systemOne({ state: STATE, questions: QUESTIONS }).withResponse();
    expect(requestId).toMatch(/^req_/);
    expect(data.model).toBe('sim-decide-1.4.0');
    expect(data.answers.billing).toEqual({ type: 'noul', noul: expect.any(Number) });
    const { team, anger } = data.answers;
    expect(Object.keys(team.probabilities)).toEqual(['sales', 'support', 'other']);
    expect(team.probabilities[team.choice]).toBe(Math.max(...Object.values(team.probabilities)));
    expect(anger.legend).toEqual({ 0: 'calm', 1: 'annoyed', 2: 'furious' });
    const { 0: calm, 1: annoyed, 2: furious } = anger.probabilities;
    expect(calm + annoyed + furious).toBeCloseTo(1, 9);
    expect(anger.score).toBeCloseTo(annoyed + 2 * furious, 3);
    expect(data.usage).toEqual({ input_tokens: expect.any(Number), output_tokens: 2 + 3 + 3 });
    expect(sim.calls[0]).toMatchObject({ path: '/v1/systemone', headers: { authorization: 'Bearer k' } });
  });

  test('lists models in its own shape', async () => {
    expect(await typed.models.list()).toContainEqual(
      expect.objectContaining({ name: 'sim-decide', description: expect.any(String) }),
    );
  });

  test('gets the same answer to the same question under another name, and another to another', async () => {
    const ask = async (name: string, question: string) => {
      const { answers } = await typed.systemOne({ state: STATE, questions: { [name]: noul(question) } });
      return answers[name]!.noul;
    };
    expect(await ask('a', 'Urgent?')).toBe(await ask('b', 'Urgent?'));
    expect(await ask('a', 'Urgent?')).not.toBe(await ask('a', 'Polite?'));
  });

  test('reads validation errors by their place, and other errors by their message', async () => {
    const questions = { team: choice('Who?', { only: null }) };
    const error = await typed.systemOne({ state: null, questions }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnprocessableEntityError);
    expect(String(error)).toContain('questions.team.criteria: Dictionary should have 2 to 255 items');
    sim.script({ status: 401 });
    const refused = await typed.systemOne({ state: null, questions: QUESTIONS }).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(TypeSafeError);
    expect(refused).toMatchObject({ status: 401, body: { detail: { error_type: 'authentication_error' } } });
  });
});

describe('a malformed request', () => {
  test.each<[string, Json, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no state', { state: undefined }, 'state'],
    ['a number for state', { state: 5 }, 'state'],
    ['no questions', { questions: {} }, 'questions'],
    ['an unknown kind', { questions: { q: { type: 'essay' } } }, 'questions.q.type'],
    ['a third side', { questions: { q: { type: 'noul', criteria: { maybe: '' } } } }, 'questions.q.criteria'],
    ['one level', { questions: { q: { type: 'score', criteria: ['a'] } } }, 'questions.q.criteria'],
    ['eleven levels', { questions: { q: { type: 'score', criteria: Array(11).fill('a') } } }, 'questions.q.criteria'],
  ])('with %s is refused naming the place', async (_, more, place) => {
    const { status, body } = await systemOne.refusal(more);
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([{ loc: ['body', ...place.split('.')] }]);
  });

  test('that is too long says so', async () => {
    const { status, body } = await systemOne.refusal({ model: 'x-small', state: 'word '.repeat(9000) });
    expect(status).toBe(400);
    expect(body).toEqual({ detail: { error_type: 'max_tokens_exceeded' } });
  });
});

describe('the newer spelling', () => {
  const ask: OpenAI.DecisionCreateParams = {
    model: 'sim-decide',
    input: 'I was charged twice.',
    questions: [
      { type: 'predicate', name: 'billing', instructions: 'Is this about billing?' },
      {
        type: 'choice',
        instructions: 'Who takes it?',
        choices: [{ value: 'sales' }, { value: true, description: 'any' }],
      },
      { type: 'score', name: 'anger', instructions: 'How angry?', levels: [{ label: 'calm' }, { label: 'furious' }] },
    ],
  };

  test('answers in order, as the other official client reads it', async () => {
    const decision = await openai.decisions.create(ask);
    expect(decision).toMatchObject({
      model: 'sim-decide-1.4.0',
      answers: [
        { type: 'predicate', name: 'billing', probability: expect.any(Number) },
        { type: 'choice', name: null, probabilities: [{ value: 'sales' }, { value: true }] },
        {
          type: 'score',
          name: 'anger',
          probabilities: [
            { value: 0, label: 'calm' },
            { value: 1, label: 'furious' },
          ],
        },
      ],
      usage: { output_tokens: 6, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } },
    });
    expect(decision.usage.total_tokens).toBe(decision.usage.input_tokens + 6);
  });

  test('decides as the older one does', async () => {
    const { answers } = await openai.decisions.create(ask);
    const old = await typed.systemOne({
      state: 'I was charged twice.',
      questions: { billing: noul('Is this about billing?'), anger: score('How angry?', ['calm', 'furious']) },
    });
    expect(answers[0]).toMatchObject({ probability: old.answers.billing.noul });
    expect(answers[2]).toMatchObject({ score: old.answers.anger.score, confidence: old.answers.anger.confidence });
  });

  test('can decline question by question', async () => {
    sim.script({ refusal: 'no' });
    expect((await openai.decisions.create(ask)).answers).toEqual(
      ['billing', null, 'anger'].map((name) => ({ name, type: 'refusal' })),
    );
  });

  test.each<[string, Json, string]>([
    ['no input', { input: undefined }, 'input'],
    ['no questions', { questions: [] }, 'questions'],
    ['no instructions', { questions: [{ type: 'predicate' }] }, 'questions[0].instructions'],
    [
      'one choice',
      { questions: [{ type: 'choice', instructions: 'x', choices: [{ value: 'a' }] }] },
      'questions[0].choices',
    ],
    ['an unknown kind', { questions: [{ type: 'noul', instructions: 'x' }] }, 'questions[0].type'],
  ])('refuses %s', async (_, more, param) => {
    const caller = new SimCaller<Json>(sim, '/v1/decisions', { ...ask });
    const { status, body } = await caller.refusal(more);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });
});
