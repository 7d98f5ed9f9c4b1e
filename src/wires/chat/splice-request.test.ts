import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ASK, jsonText, UPSTREAM_TERMS } from '../../../test/chat-wire.ts';
import { randomCases } from '../../../test/random-cases.ts';
import type { JsonText } from '../../json/json.ts';
import type { UpstreamTerms } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';

function write(body: unknown, terms: Partial<UpstreamTerms> = {}): string {
  const text = jsonText(body);
  const asked = peek(text);
  const outputLimit = asked.outputLimit?.tokens ?? asked.defaultOutputLimit;
  return spliceRequest(text, asked, { ...UPSTREAM_TERMS, outputLimit, ...terms }).toString();
}

const sent = (more: object, terms: Partial<UpstreamTerms> = {}): Record<string, unknown> =>
  JSON.parse(write({ ...ASK, ...more }, terms)) as Record<string, unknown>;

describe('what leaves', () => {
  test('is what the caller wrote, to the byte, where nothing must differ', () => {
    const body =
      '{ "messages" : [ {"role":"user","content":"\\u0041\\/b"} ],\n\t"temperature": 1.0e0, "model":"bridge", "max_completion_tokens" : 40 }';
    expect(write(body)).toBe(body);
  });

  test('keeps every byte outside what must differ', () => {
    const body =
      '{"messages":[{"role":"user","content":"\\u0041\\/b"}],"model":"vendor/bridge" , "max_tokens":9,"top_p":0.10}';
    expect(write(body, { hostModel: 'bridge-2026' })).toBe(
      '{"messages":[{"role":"user","content":"\\u0041\\/b"}],"model":"bridge-2026","top_p":0.10,"max_completion_tokens":9}',
    );
  });

  test('asks the host’s own model', () => {
    expect(sent({}, { hostModel: 'host "name"' }).model).toBe('host "name"');
  });

  test('asks for usage on every stream, whatever else the options say', () => {
    expect(sent({}).stream_options).toBeUndefined();
    expect(sent({ stream: true }).stream_options).toEqual({ include_usage: true });
    expect(sent({ stream: true, stream_options: null }).stream_options).toEqual({ include_usage: true });
    const options = { include_obfuscation: false, include_usage: false };
    expect(sent({ stream: true, stream_options: options }).stream_options).toEqual({ ...options, include_usage: true });
  });

  test('forwards fields that this gateway does not know', () => {
    expect(sent({ top_k: 40, response_format: { type: 'json_object' }, store: false })).toMatchObject({
      top_k: 40,
      response_format: { type: 'json_object' },
      store: false,
    });
  });
});

describe('the output limit', () => {
  test.each([
    ['max_completion_tokens', '{"max_tokens":1e3}', '"max_completion_tokens":1000'],
    ['max_completion_tokens', '{"max_completion_tokens":1e3}', '"max_completion_tokens":1000'],
    ['max_completion_tokens', '{"max_completion_tokens":100.0}', '"max_completion_tokens":100'],
    ['max_completion_tokens', '{"max_completion_tokens":7,"max_tokens":9}', '"max_completion_tokens":7'],
    ['max_tokens', '{"max_completion_tokens":7,"max_tokens":9}', '"max_tokens":7'],
    ['max_tokens', '{"max_completion_tokens":7}', '"max_tokens":7'],
    ['max_tokens', '{"max_tokens":null}', '"max_tokens":4096'],
    ['max_tokens', '{}', '"max_tokens":4096'],
  ])('is one plain integer in %s for %s', (outputLimitField, fields, limit) => {
    const rest = fields === '{}' ? '}' : `,${fields.slice(1)}`;
    const written = write(`{"model":"bridge","messages":[{"role":"user","content":"Hello"}]${rest}`, {
      outputLimitField,
    });
    expect(written.match(/"max_\w+":[^,}]*/g)).toEqual([limit]);
  });
});

describe('fields that are not the host’s to see', () => {
  const ASIDE = {
    provider: {},
    models: ['bridge'],
    route: '',
    plugins: [],
    truncation: 'disabled',
    background: false,
    usage: { include: true },
    include_reasoning: true,
    reasoning: { exclude: false },
    best_of: 1,
  };

  test('what only asked this gateway', () => {
    expect(Object.keys(sent(ASIDE)).sort()).toEqual(['max_completion_tokens', 'messages', 'model']);
  });

  test('labels, unless the host’s row forwards them', () => {
    const labels = {
      user: 'ada',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      session_id: 'i',
      metadata: { a: 'b' },
    };
    expect(Object.keys(sent(labels)).sort()).toEqual(['max_completion_tokens', 'messages', 'model']);
    expect(sent(labels, { forwards: ['prompt_cache_key', 'metadata'] })).toMatchObject({
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
    });
    expect(sent(labels, { forwards: ['prompt_cache_key'] })).not.toHaveProperty('user');
  });
});

describe('reasoning', () => {
  test.each([
    [{ reasoning_effort: 'xhigh' }, 'high'],
    [{ reasoning: { effort: 'high' } }, 'high'],
    [{ reasoning: { max_tokens: 2000 } }, 'medium'],
    [{ reasoning: { enabled: false } }, 'none'],
    [{ reasoning_effort: 'low' }, 'low'],
  ])('of %j leaves as the word %s', (asked, reasoningEffort) => {
    const written = sent(asked, { reasoningEffort });
    expect(written.reasoning_effort).toBe(reasoningEffort);
    expect(written).not.toHaveProperty('reasoning');
  });

  test('is left out for a model that has no choice', () => {
    expect(sent({ reasoning_effort: 'none' })).not.toHaveProperty('reasoning_effort');
    expect(sent({ reasoning_effort: null })).not.toHaveProperty('reasoning_effort');
  });
});

/** A JSON value written in some odd but valid way. */
const spaced = fc.constantFrom('', ' ', '\n', '\t ');
const value = fc.oneof(
  fc.constantFrom(
    '1.0',
    '-0',
    '1E2',
    '12345678901234567890',
    '"\\u00e9\\/"',
    '"é🛂"',
    'true',
    '[ 1,2 ]',
    '{ "a" : null }',
  ),
  fc.jsonValue({ maxDepth: 2 }).map((one) => JSON.stringify(one)),
);
const untouched = fc.dictionary(fc.stringMatching(/^own_[a-zé"\\]{1,6}$/), value, { maxKeys: 4 });
const edited = fc.dictionary(
  fc.constantFrom('user', 'usage', 'max_tokens', 'max_completion_tokens', 'stream', 'provider', 'reasoning_effort'),
  fc.constant(''),
);
const EDITED_VALUES: Record<string, string> = {
  user: '"ada"',
  usage: '{"include":true}',
  max_tokens: '1e2',
  max_completion_tokens: '100.0',
  stream: 'true',
  provider: '{}',
  reasoning_effort: '"low"',
};

test('bytes outside the edited members are identical, and exactly one plain limit leaves', () => {
  fc.assert(
    fc.property(untouched, edited, spaced, fc.constantFrom('bridge', 'other'), (own, asides, space, hostModel) => {
      const members = [
        ['model', '"bridge"'],
        ['messages', '[ {"role":"user", "content":"\\u0048i"} ]'],
        ...Object.entries(own),
        ...Object.keys(asides).map((name) => [name, EDITED_VALUES[name]!]),
      ].map(([name, json]) => `${space}${JSON.stringify(name)}${space}:${space}${json}`);
      const source = jsonText(`{${members.join(',')}${space}}`);
      const asked = peek(source);
      const written = spliceRequest(source, asked, { ...UPSTREAM_TERMS, hostModel, outputLimit: 100 });
      const result = jsonText(written.toString());
      for (const name of ['messages', ...Object.keys(own)]) expect(bytesAt(result, name)).toBe(bytesAt(source, name));
      expect(bytesAt(result, 'max_completion_tokens')).toBe('100');
      const body = result.value as Record<string, unknown>;
      expect(body.model).toBe(hostModel);
      for (const name of ['max_tokens', 'user', 'usage', 'provider', 'reasoning_effort']) {
        expect(body).not.toHaveProperty(name);
      }
    }),
    { numRuns: randomCases(500) },
  );
});

function bytesAt(text: JsonText, name: string): string {
  const span = text.locate([name])!;
  return text.bytes.toString('utf8', span.start, span.end);
}
