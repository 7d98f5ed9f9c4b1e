import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText, refusalBy } from '../../../test/chat-wire.ts';
import { LIMITS } from '../../limits.ts';
import type { Peek } from '../peek.ts';
import { peek, texts } from './peek.ts';

const ASK = { model: 'ferry-base', prompt: 'The ferry leaves at' };

const peekAt = (more: object): Peek => peek(jsonText({ ...ASK, ...more }));
const refusal = (more: object) => refusalBy(() => peekAt(more));

describe('a plain request', () => {
  test('asks for one answer of at most sixteen tokens', () => {
    expect(peekAt({})).toMatchObject({
      model: 'ferry-base',
      stream: false,
      wantsUsageFrame: false,
      outputLimit: null,
      defaultOutputLimit: 16,
      answers: 1,
      prompts: 1,
      labels: null,
      reasoning: null,
    });
  });

  test('can be met by a model of this wire or by any chat model', () => {
    expect(peekAt({}).needs).toEqual([{ capability: ['completions', 'chat'], param: 'model' }]);
  });

  test('names its limit, which may be nothing at all', () => {
    expect(peekAt({ max_tokens: 300 }).outputLimit).toEqual({ tokens: 300, field: 'max_tokens' });
    expect(peekAt({ max_tokens: 0, echo: true, logprobs: 0 }).outputLimit).toEqual({ tokens: 0, field: 'max_tokens' });
  });

  test('keeps who the user is as a label', () => {
    expect(peekAt({ user: 'u-1', metadata: { team: 'port' } }).labels).toEqual({
      user: 'u-1',
      'metadata.team': 'port',
    });
  });

  test('wants usage on its stream by either spelling', () => {
    expect(peekAt({ stream: true, stream_options: { include_usage: true } }).wantsUsageFrame).toBe(true);
    expect(peekAt({ stream: true, usage: { include: true } }).wantsUsageFrame).toBe(true);
    expect(peekAt({ stream: true, stream_options: { include_usage: false } }).wantsUsageFrame).toBe(false);
  });

  test('may ask for reasoning, which the model must then have', () => {
    const { reasoning, needs } = peekAt({ reasoning: { effort: 'low' } });
    expect(reasoning).toMatchObject({ effort: 'low' });
    expect(needs).toContainEqual({ capability: 'reasoning', param: 'reasoning' });
  });

  test('may not ask for reasoning in unknown members, because the object is not sent to hosts', () => {
    expect(() => peekAt({ reasoning: { effort: 'low', depth: 3 } })).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', param: 'reasoning.depth' }),
    );
  });

  test('may offer tools, which the model must then know', () => {
    expect(peekAt({ tools: [{ type: 'function' }] }).needs).toContainEqual({ capability: 'tools', param: 'tools' });
    expect(peekAt({ tools: [] }).needs).toHaveLength(1);
  });
});

describe('the four shapes of a prompt', () => {
  test.each([
    ['one string', 'über', 1, { textBytes: 5, tokenIds: 0 }],
    ['a list of strings', ['ab', 'cde'], 2, { textBytes: 5, tokenIds: 0 }],
    ['one list of token ids', [1, 2, 3], 1, { textBytes: 0, tokenIds: 3 }],
    ['a list of lists of token ids', [[1, 2], [3]], 2, { textBytes: 0, tokenIds: 3 }],
    ['an empty string', '', 1, { textBytes: 0, tokenIds: 0 }],
  ])('%s', (_, prompt, prompts, size) => {
    const peeked = peekAt({ prompt });
    expect(peeked.prompts).toBe(prompts);
    expect(peeked.size).toMatchObject({ ...size, messages: prompts });
  });

  test('what stands beside the prompts weighs once for each of them', () => {
    const { size } = peekAt({
      prompt: ['ab', 'cd'],
      suffix: 'xyz',
      engine_hint: { a: 1 },
      response_format: { type: 'text' },
    });
    expect(size.textBytes).toBe(4 + 2 * (3 + 7));
    expect(size.toolBytes).toBe(2 * '{"type":"text"}'.length);
    expect(size.tools).toBe(0);
    expect(peekAt({ prompt: ['ab', 'cd'], response_format: { type: 'json_object' } }).size.tools).toBe(1);
  });

  test.each([
    [undefined, 'prompt', 'missing_required_parameter'],
    [null, 'prompt', 'missing_required_parameter'],
    [7, 'prompt', 'invalid_value'],
    [{}, 'prompt', 'invalid_value'],
    [[], 'prompt', 'invalid_value'],
    [['a', 7], 'prompt[1]', 'invalid_value'],
    [[[1], []], 'prompt[1]', 'invalid_value'],
    [[1, -2], 'prompt[0]', 'invalid_value'],
    [[[1], [2.5]], 'prompt[1]', 'invalid_value'],
  ])('%j is no prompt', (prompt, param, code) => {
    expect(refusal({ prompt })).toMatchObject({ param, code });
  });
});

describe('how many answers', () => {
  test.each([
    [{ n: 3 }, 3],
    [{ best_of: 4 }, 4],
    [{ n: 2, best_of: 5 }, 5],
    [{ n: 2, best_of: 2, stream: true }, 2],
    [{ prompt: ['a', 'b', 'c'], n: 2 }, 6],
    [{ prompt: [[1], [2]], n: 1, best_of: 4 }, 8],
    [{ prompt: [1, 2], n: 2 }, 2],
  ])('%j may give %d', (more, answers) => {
    expect(peekAt(more).answers).toBe(answers);
  });

  test.each([
    [{ n: 0 }, 'n'],
    [{ n: 1.5 }, 'n'],
    [{ n: '2' }, 'n'],
    [{ n: LIMITS.answersPerCallMax + 1 }, 'n'],
    [{ best_of: 0 }, 'best_of'],
    [{ n: 3, best_of: 2 }, 'best_of'],
    [{ best_of: 2, stream: true }, 'best_of'],
    [{ prompt: Array(17).fill('a'), n: 128 }, 'n'],
    [{ prompt: Array(17).fill('a'), best_of: 128 }, 'best_of'],
    [{ prompt: Array(LIMITS.completionAnswersMax + 1).fill('a') }, 'prompt'],
  ])('%j is refused', (more, param) => {
    expect(refusal(more)).toMatchObject({ code: 'invalid_value', param });
  });

  test('are the prompts times the larger of the two numbers, whatever they are', () => {
    const numbers = fc.record({
      prompts: fc.integer({ min: 1, max: 8 }),
      n: fc.integer({ min: 1, max: 8 }),
      more: fc.nat(8),
    });
    fc.assert(
      fc.property(numbers, ({ prompts, n, more }) => {
        const peeked = peekAt({ prompt: Array(prompts).fill('p'), n, best_of: n + more });
        expect(peeked.answers).toBe(prompts * Math.max(n, n + more));
      }),
    );
  });
});

describe('fields', () => {
  test.each([
    ['max_tokens', -1],
    ['max_tokens', 1.5],
    ['max_tokens', '16'],
    ['logprobs', 6],
    ['logprobs', -1],
    ['logprobs', true],
    ['echo', 1],
    ['suffix', 7],
    ['stop', [1]],
    ['stream', 'yes'],
    ['seed', 1.5],
    ['temperature', '1'],
    ['logit_bias', []],
    ['user', 7],
  ])('%s may not be %j', (param, value) => {
    expect(refusal({ [param]: value })).toMatchObject({ code: 'invalid_value', param });
  });

  test('options of a stream belong to a stream', () => {
    expect(refusal({ stream_options: { include_usage: true } })).toMatchObject({ param: 'stream_options' });
    expect(refusal({ stream: true, stream_options: { include_usage: 1 } })).toMatchObject({
      param: 'stream_options.include_usage',
    });
  });

  test.each([
    ['provider', { order: ['x'] }],
    ['models', ['a', 'b']],
    ['route', 'fallback'],
    ['fallbacks', ['x']],
    ['transforms', ['middle-out']],
    ['truncation', 'auto'],
    ['plugins', [{ id: 'web' }]],
    ['preset', 'p'],
    ['guardrails', ['g']],
    ['moderation', true],
    ['store', true],
    ['prediction', { type: 'content' }],
    ['service_tier', 'flex'],
    ['speed', 'fast'],
    ['max_completion_tokens', 9],
    ['max_output_tokens', 9],
    ['max_new_tokens', 9],
    ['n_predict', 9],
  ])('%s is refused by name', (param, value) => {
    expect(refusal({ [param]: value })).toMatchObject({ code: 'unsupported_feature', param });
  });

  test('what asks for nothing is let through', () => {
    const nothing = {
      provider: {},
      models: ['ferry-base'],
      store: false,
      service_tier: 'auto',
      truncation: 'disabled',
    };
    expect(peekAt({ ...nothing, echo: false, suffix: null, logprobs: null, best_of: null }).answers).toBe(1);
  });

  test('a body that is not an object gets an error that names the fields', () => {
    expect(refusalBy(() => peek(jsonText('[]')))).toMatchObject({ code: 'invalid_request_body' });
    expect(refusalBy(() => peek(jsonText('{"prompt":"x"}')))).toMatchObject({ param: 'model' });
  });
});

describe('the texts of a count', () => {
  test('are those that were weighed', () => {
    const body = { ...ASK, prompt: ['ab', 'über'], suffix: 'zz', engine_hint: ['x'] };
    const bytes = texts(jsonText(body)).texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBe(peek(jsonText(body)).size.textBytes);
    expect(texts(jsonText({ ...ASK, prompt: [1, 2] })).texts).toEqual([]);
  });
});
