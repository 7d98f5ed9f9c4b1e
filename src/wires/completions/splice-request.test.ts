import { describe, expect, test } from 'vitest';
import { jsonText, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import type { UpstreamTerms } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';

function write(body: unknown, terms: Partial<UpstreamTerms> = {}): string {
  const text = jsonText(body);
  const asked = peek(text);
  const outputLimit = asked.outputLimit?.tokens ?? asked.defaultOutputLimit;
  return spliceRequest(text, asked, { ...UPSTREAM_TERMS, outputLimit, ...terms }).toString();
}

const ASK = { model: 'bridge', prompt: 'x' };
const sent = (more: object, terms: Partial<UpstreamTerms> = {}): Record<string, unknown> =>
  JSON.parse(write({ ...ASK, ...more }, terms)) as Record<string, unknown>;

describe('what leaves', () => {
  test('is what the caller wrote, to the byte, where nothing must differ', () => {
    const body =
      '{ "prompt" : [[755, 16178],[25 ]],\n"n":2,"best_of":3, "logprobs":5,"model":"bridge", "max_tokens" : 25, "top_p":0.90 }';
    expect(write(body)).toBe(body);
  });

  test('names the host’s model and always one limit, as a plain integer', () => {
    expect(sent({}, { hostModel: 'host-name' })).toEqual({ model: 'host-name', prompt: 'x', max_tokens: 16 });
    expect(write('{"model":"bridge","prompt":"x","max_tokens":1e2}')).toContain('"max_tokens":100}');
    expect(sent({ max_tokens: null })).toMatchObject({ max_tokens: 16 });
    expect(sent({ max_tokens: 9 }, { outputLimitField: 'max_completion_tokens' })).toEqual({ ...ASK, max_tokens: 9 });
  });

  test('asks for usage on every stream', () => {
    expect(sent({ stream: true }).stream_options).toEqual({ include_usage: true });
    expect(sent({ stream: true, stream_options: null }).stream_options).toEqual({ include_usage: true });
    expect(sent({ stream: true, stream_options: { include_usage: false, other: 1 } }).stream_options).toEqual({
      include_usage: true,
      other: 1,
    });
    expect(sent({})).not.toHaveProperty('stream_options');
  });

  test('says nothing that only this gateway understands, nor who the user is', () => {
    const ours = { usage: { include: true }, models: ['bridge'], store: false, service_tier: 'auto', provider: {} };
    expect(sent({ ...ours, user: 'u-1', metadata: { a: 'b' } })).toEqual({ ...ASK, max_tokens: 16 });
    expect(sent({ user: 'u-1', session_id: 's' }, { forwards: ['user'] })).toMatchObject({ user: 'u-1' });
  });

  test('keeps what only the host knows', () => {
    expect(sent({ min_p: 0.1, prompt_logprobs: 2, suffix: 'y' })).toMatchObject({
      min_p: 0.1,
      prompt_logprobs: 2,
      suffix: 'y',
    });
  });

  test('says effort in the one word the model has', () => {
    expect(sent({ reasoning: { effort: 'xhigh' } }, { reasoningEffort: 'high' })).toMatchObject({
      reasoning_effort: 'high',
    });
    expect(sent({ reasoning: { effort: 'xhigh' } }, { reasoningEffort: 'high' })).not.toHaveProperty('reasoning');
    expect(sent({ reasoning_effort: 'none' }, { reasoningEffort: null })).not.toHaveProperty('reasoning_effort');
  });
});
