import { describe, expect, test } from 'vitest';
import { scanJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { Adjustments } from './adjustments.ts';
import { WIRES } from './registry.ts';

/** Requests of the messages wire, whose models seldom have a host of another wire. */

const JSON_LIMITS = { depthMax: 64, nodesMax: 10_000, keysMax: 1_000, numberDigitsMax: 400, keyBytesMax: 1_000 };

const TERMS = {
  hostModel: 'm',
  stream: false,
  outputLimit: 500,
  outputLimitField: 'max_tokens',
  reasoningEffort: 'high',
  thinking: null,
} as const;

function adjusted(host: 'chat' | 'responses', fields: Record<string, unknown>): string | null {
  const body = { model: 'm', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }], ...fields };
  const text = scanJson(Buffer.from(JSON.stringify(body)), JSON_LIMITS);
  const { client, hub } = WIRES.messages;
  const adjustments = new Adjustments(true, hub!.client!.fieldNames);
  const request = hub!.client!.readRequest(text, client.peek(text, {}), adjustments);
  WIRES[host].hub!.upstream!.writeRequest(request, { ...TERMS, adjustments });
  return adjustments.describe(null);
}

const citing = { type: 'text', text: 'x', citations: [{ type: 'char_location' }] };

describe.each(['chat', 'responses'] as const)('messages to %s', (host) => {
  test.each<[Record<string, unknown>, string | null]>([
    [{}, null],
    [{ top_k: 5 }, 'top_k=dropped'],
    [{ a_vendor_field: 1 }, 'a_vendor_field=dropped'],
    [{ thinking: { type: 'between_tools' } }, 'thinking.type=dropped'],
    [{ messages: [{ role: 'user', content: [citing] }] }, 'messages.0.content.0.citations=dropped'],
    [{ messages: [{ role: 'user', name: 'ada', content: 'Hi' }] }, 'messages.0.name=dropped'],
    [{ tools: [{ name: 'f', input_schema: {}, defer_loading: true }] }, 'tools.0.defer_loading=dropped'],
  ])('%j: %s', (fields, expected) => {
    expect(adjusted(host, fields)).toBe(expected);
  });

  test('refuses thinking beside `enable_thinking: false`', () => {
    const fields = { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 }, enable_thinking: false };
    expect(() => adjusted(host, fields)).toThrow(
      expect.objectContaining({ kind: 'invalid_value', param: 'enable_thinking' }),
    );
  });

  test('refuses a budget by its name', () => {
    const fields = { output_config: { task_budget: { type: 'tokens', total: 1000 } } };
    expect(() => adjusted(host, fields)).toThrow(expect.objectContaining({ param: 'output_config.task_budget' }));
  });

  test('refuses a block that no wire can carry', () => {
    const found = { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] };
    expect(() => adjusted(host, { messages: [{ role: 'user', content: [found] }] })).toThrow(
      expect.objectContaining({ param: 'messages[0].content[0].type' }),
    );
  });
});

test('counts each name beyond those that are shown once', () => {
  const adjustments = new Adjustments(true);
  for (let at = 0; at < LIMITS.adjustedFieldsMax; at++) adjustments.note(`field_${at}`);
  for (let times = 0; times < 3; times++) adjustments.note('one_more');
  expect(adjustments.describe(null)).toMatch(/,\+1$/);
});

test('a host without stop sequences refuses them by the name on the caller’s wire', () => {
  expect(adjusted('chat', { stop_sequences: ['END'] })).toBeNull();
  expect(() => adjusted('responses', { stop_sequences: ['END'] })).toThrow(
    expect.objectContaining({ param: 'stop_sequences' }),
  );
});

test('a field that the caller’s wire does not define is named as it was sent, not as that wire calls a field of that name', () => {
  const strict = new Adjustments(false, { stop: 'stop_sequences' });
  expect(() => strict.dropUnknown('stop', ['a'])).toThrow(expect.objectContaining({ param: 'stop' }));
  expect(() => strict.drop('stop')).toThrow(expect.objectContaining({ param: 'stop_sequences' }));
  const lenient = new Adjustments(true, { verbosity: 'text.verbosity' });
  lenient.dropUnknown('verbosity', 'high');
  lenient.drop('verbosity');
  expect(lenient.describe(null)).toBe('verbosity=dropped,text.verbosity=dropped');
});
