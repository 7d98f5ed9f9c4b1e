import { describe, expect, test } from 'vitest';
import { jsonText, refusalBy } from '../../../test/chat-wire.ts';
import { SAMPLING } from '../../../test/shortest-request.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { peek } from './peek.ts';
import { readRequest } from './read-request.ts';

const read = (more: object): CanonicalRequest => {
  const text = jsonText({ model: 'bridge', prompt: 'The ferry leaves at', ...more });
  return readRequest(text, peek(text));
};

describe('a prompt for a chat model', () => {
  test('is one message of the user’s', () => {
    expect(read({})).toEqual({
      messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'The ferry leaves at' }] }],
      tools: [],
      toolChoice: null,
      parallelToolCalls: null,
      sampling: SAMPLING,
      responseFormat: null,
      reasoning: null,
      verbosity: null,
    });
  });

  test('may be a list of one string', () => {
    expect(read({ prompt: ['only'] }).messages[0]!.blocks).toEqual([{ kind: 'text', text: 'only' }]);
  });

  test('carries sampling, stops, format and effort', () => {
    const request = read({
      temperature: 0.4,
      top_p: 0.9,
      top_k: 5,
      frequency_penalty: 1,
      presence_penalty: -1,
      seed: 7,
      stop: ['\nuser:'],
      response_format: { type: 'json_object' },
      reasoning: { max_tokens: 2000 },
    });
    expect(request.sampling).toEqual({
      temperature: 0.4,
      topP: 0.9,
      topK: 5,
      frequencyPenalty: 1,
      presencePenalty: -1,
      seed: 7,
      stop: ['\nuser:'],
    });
    expect(request.responseFormat).toEqual({ kind: 'json' });
    expect(request.reasoning).toEqual({ effort: null, budgetTokens: 2000 });
    expect(read({ stop: '.' }).sampling.stop).toEqual(['.']);
  });

  test('may say in other fields that it asks for nothing more', () => {
    const nothing = { echo: false, suffix: '', best_of: 1, n: 1, logprobs: null, logit_bias: {}, min_p: null };
    const ours = { stream: true, stream_options: { include_usage: true }, usage: { include: true }, store: false };
    expect(read({ ...nothing, ...ours, user: 'u', metadata: { a: 'b' }, service_tier: 'auto' }).tools).toEqual([]);
  });

  test.each([
    [{ echo: true }, 'echo'],
    [{ suffix: 'end' }, 'suffix'],
    [{ best_of: 2 }, 'best_of'],
    [{ n: 2 }, 'n'],
    [{ logprobs: 0 }, 'logprobs'],
    [{ logprobs: 3 }, 'logprobs'],
    [{ logit_bias: { 50256: -100 } }, 'logit_bias'],
    [{ prompt: ['a', 'b'] }, 'prompt'],
    [{ prompt: [1, 2] }, 'prompt'],
    [{ prompt: [[1, 2]] }, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ max_tokens: 0, echo: true }, 'echo'],
    [{ min_p: 0.1 }, 'min_p'],
    [{ response_format: { type: 'json_schema' } }, 'response_format'],
  ])('%j is refused by name', (more, param) => {
    expect(refusalBy(() => read(more))).toMatchObject({ code: 'unsupported_parameter', param });
  });
});
