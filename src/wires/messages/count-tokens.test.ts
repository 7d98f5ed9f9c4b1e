import { describe, expect, test } from 'vitest';
import { PLAIN, refusalOf, textOf } from '../../../test/messages-request.ts';
import { wrapForeign } from '../fields/foreign-reasoning.ts';
import { HostResponseBroken } from '../wire.ts';
import { countTokens } from './count-tokens.ts';

const { max_tokens: _, ...PROMPT } = PLAIN;

function peek(body: object, headers = {}) {
  return countTokens.peek(textOf(body), headers);
}

test('a prompt is understood without an output limit', () => {
  const tools = [{ name: 'tide', input_schema: {} }];
  const body = { ...PROMPT, system: 'x', tools, tool_choice: { type: 'auto' }, thinking: { type: 'adaptive' } };
  expect(peek(body, { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'b' })).toEqual({
    model: 'claude-harbour',
    needs: [
      { capability: 'messages', param: 'model' },
      { capability: 'tools', param: 'tools' },
      { capability: 'reasoning', param: 'thinking' },
    ],
    hostHeaders: { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'b' },
  });
});

describe('refused', () => {
  test.each(['max_tokens', 'stream', 'temperature', 'stop_sequences', 'metadata', 'service_tier', 'from_the_future'])(
    '%s is no part of a prompt',
    (name) => {
      const values: Record<string, unknown> = { stream: true, stop_sequences: [], metadata: {}, service_tier: 'auto' };
      expect(refusalOf(() => peek({ ...PROMPT, [name]: values[name] ?? 1 }))).toEqual({
        code: 'unsupported_parameter',
        param: name,
      });
    },
  );

  test.each<[object, string]>([
    [{ mcp_servers: [{}] }, 'mcp_servers'],
    [{ context_management: { edits: [{}] } }, 'context_management'],
    [{ tools: [{ type: 'web_search_20250305', name: 'w' }] }, 'tools[0].type'],
    [{ messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] }, 'messages[0].content[0].type'],
  ])('%j as on the messages route', (fields, param) => {
    expect(refusalOf(() => peek({ ...PROMPT, ...fields }))).toEqual({ code: 'unsupported_feature', param });
  });

  test('a prompt without messages or model', () => {
    expect(refusalOf(() => peek({ model: 'm' }))).toMatchObject({ param: 'messages' });
    expect(refusalOf(() => peek({ messages: PLAIN.messages }))).toMatchObject({ param: 'model' });
  });
});

test('the request leaves as it came, but for the model’s name', () => {
  const body = ' {"messages":[{"role":"user","content":"\\u0041"}], "model":"claude-harbour"}';
  expect(countTokens.spliceRequest(textOf(body), 'claude-harbour', {}).toString()).toBe(body);
  expect(countTokens.spliceRequest(textOf(body), 'other', {}).toString()).toBe(body.replace('claude-harbour', 'other'));
});

test('fields without a value that are not counted stay here', () => {
  const body = '{"max_tokens":null,"messages":[{"role":"user","content":"A"}],"stream":null,"model":"claude-harbour"}';
  const sent = JSON.parse(countTokens.spliceRequest(textOf(body), 'claude-harbour', {}).toString());
  expect(Object.keys(sent)).toEqual(['messages', 'model']);
});

test('context management that keeps all thinking is counted with, and without edits it stays here', () => {
  const keeping = { ...PROMPT, context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } };
  const sent = (body: object) => JSON.parse(countTokens.spliceRequest(textOf(body), 'claude-harbour', {}).toString());
  expect(refusalOf(() => peek(keeping))).toBeNull();
  expect(sent(keeping)).toEqual({ ...keeping, model: 'claude-harbour' });
  expect(sent({ ...PROMPT, context_management: {} })).toEqual({ ...PROMPT, model: 'claude-harbour' });
});

test('another vendor’s reasoning is not sent to be counted, as it is not sent with a call', () => {
  const signature = wrapForeign({ vendor: 'somebody', form: 'encrypted', data: 'x' });
  const turn = (...thinking: object[]) => ({
    ...PROMPT,
    messages: [...PROMPT.messages, { role: 'assistant', content: [...thinking, { type: 'text', text: 'Nine.' }] }],
  });
  const body = textOf(turn({ type: 'thinking', thinking: 'theirs', signature }));
  expect(JSON.parse(countTokens.spliceRequest(body, 'claude-harbour', {}).toString())).toEqual(turn());
});

test('the count is read and written', () => {
  const count = countTokens.readCount(Buffer.from('{"input_tokens":17,"context_management":null}'));
  expect(countTokens.writeCount(count)).toBe('{"input_tokens":17}');
  for (const wrong of ['', '{}', '{"input_tokens":-1}', '{"input_tokens":"7"}']) {
    expect(() => countTokens.readCount(Buffer.from(wrong))).toThrow(HostResponseBroken);
  }
});

test('of a translated request only the prompt is counted', () => {
  const body =
    '{"model":"m","max_tokens":9,"temperature":0,"stop_sequences":["x"],"system":[],"messages":[],"tools":[]}';
  expect(countTokens.countedPart!(Buffer.from(body)).toString()).toBe(
    '{"model":"m","system":[],"messages":[],"tools":[]}',
  );
});
