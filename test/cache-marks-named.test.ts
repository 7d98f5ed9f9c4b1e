import { expect, test } from 'vitest';
import { scanJson } from '../src/json/json.ts';
import { Adjustments } from '../src/wires/adjustments.ts';
import { WIRES } from '../src/wires/registry.ts';

/** Settings of a prompt cache that do not reach a host are named, because without them a prompt may cost more. */

type Fields = Readonly<Record<string, unknown>>;

const JSON_LIMITS = { depthMax: 64, nodesMax: 10_000, keysMax: 1_000, numberDigitsMax: 400, keyBytesMax: 1_000 };
const USER = { role: 'user', content: 'Hello' };
const CALLERS = {
  chat: { model: 'm', messages: [USER] },
  messages: { model: 'm', max_tokens: 500, messages: [USER] },
  responses: { model: 'm', input: 'Hello' },
} as const;
type WireName = keyof typeof CALLERS;

const MARK = { cache_control: { type: 'ephemeral' } };
const POINT = { prompt_cache_breakpoint: { mode: 'explicit' } };
const PART = { type: 'text', text: 'Hello', ...POINT };
const TOOL = { name: 'f', input_schema: { type: 'object', properties: {} } };
const CALL = { type: 'tool_use', id: 'c1', name: 'f', input: {} };
const RESULT = { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'x', ...MARK }] };

function adjusted(caller: WireName, host: WireName, fields: Fields): string | null {
  const text = scanJson(Buffer.from(JSON.stringify({ ...CALLERS[caller], ...fields })), JSON_LIMITS);
  const { client, hub } = WIRES[caller];
  const adjustments = new Adjustments(false, hub!.client!.fieldNames);
  const request = hub!.client!.readRequest(text, client.peek(text, {}), adjustments);
  const terms = { hostModel: 'm', stream: false, outputLimit: 500, outputLimitField: 'max_tokens', thinking: null };
  WIRES[host].hub!.upstream!.writeRequest(request, { ...terms, reasoningEffort: null, adjustments });
  return adjustments.describe(null);
}

test.each<[WireName, WireName, Fields, string]>([
  ['chat', 'responses', { ...MARK, messages: [{ ...USER, ...MARK }] }, 'cache_control'],
  ['chat', 'responses', { messages: [{ ...USER, ...POINT }] }, 'prompt_cache_breakpoint'],
  ['chat', 'responses', { messages: [{ role: 'user', content: [PART, PART] }] }, 'prompt_cache_breakpoint'],
  ['chat', 'responses', { prompt_cache_options: { mode: 'explicit' } }, 'prompt_cache_options'],
  ['chat', 'messages', { prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
  ['messages', 'chat', MARK, 'cache_control'],
  ['messages', 'chat', { tools: [{ ...TOOL, ...MARK }] }, 'cache_control'],
  [
    'messages',
    'responses',
    { messages: [USER, { role: 'assistant', content: [{ ...CALL, ...MARK }] }] },
    'cache_control',
  ],
  [
    'messages',
    'responses',
    { messages: [USER, { role: 'assistant', content: [CALL] }, { role: 'user', content: [RESULT] }] },
    'cache_control',
  ],
  ['responses', 'chat', { prompt_cache_retention: '24h' }, 'prompt_cache_retention'],
  [
    'responses',
    'chat',
    { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello', ...POINT }] }] },
    'prompt_cache_breakpoint',
  ],
])('%s to %s: %j is named', (caller, host, fields, name) => {
  expect(adjusted(caller, host, fields)).toBe(`${name}=dropped`);
});

test.each<[WireName, WireName, Fields]>([
  ['chat', 'messages', { ...MARK, messages: [{ ...USER, ...MARK }] }],
  ['chat', 'responses', { prompt_cache_retention: '24h' }],
  ['chat', 'responses', { cache_control: null, prompt_cache_options: {}, prompt_cache_retention: null }],
  ['responses', 'messages', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello', ...POINT }] }] }],
])('%s to %s: %j reaches the host or asks for nothing', (caller, host, fields) => {
  expect(adjusted(caller, host, fields)).toBeNull();
});
