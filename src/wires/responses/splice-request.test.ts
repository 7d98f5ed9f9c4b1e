import { describe, expect, test } from 'vitest';
import { scanJson } from '../../json/json.ts';
import { wrapForeign } from '../fields/foreign-reasoning.ts';
import type { UpstreamTerms } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';

const LIMITS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };
const TERMS: UpstreamTerms = {
  hostModel: 'host-model',
  outputLimit: 4096,
  outputLimitField: 'max_output_tokens',
  forwards: [],
  reasoningEffort: null,
  reducesVectors: false,
};

function written(body: string, terms: Partial<UpstreamTerms> = {}): string {
  const text = scanJson(Buffer.from(body), LIMITS);
  return spliceRequest(text, peek(text), { ...TERMS, ...terms }).toString();
}

describe('the request that leaves', () => {
  test('is what the caller wrote, with the model, the limit and the refusal to store', () => {
    const body =
      '{ "model":"m" , "input": [ {"role":"user","content":"a\\u0062"} ], "temperature": 1.0, "x_odd": 1e2 }';
    expect(written(body)).toBe(
      '{ "model":"host-model" , "input": [ {"role":"user","content":"a\\u0062"} ], "temperature": 1.0, "x_odd": 1e2,"max_output_tokens":4096,"store":false }',
    );
  });

  test('stays as it is where nothing must change', () => {
    const body = '{"model":"host-model","input":"x","max_output_tokens":4096,"store":false,"truncation":"disabled"}';
    expect(written(body)).toBe(body);
  });

  test('says the limit as a plain integer', () => {
    expect(
      written('{"model":"host-model","input":"x","max_output_tokens":1e2,"store":false}', { outputLimit: 100 }),
    ).toBe('{"model":"host-model","input":"x","max_output_tokens":100,"store":false}');
  });

  test('leaves out labels the host’s row does not name, and what only this gateway reads', () => {
    const body =
      '{"model":"host-model","input":"x","max_output_tokens":4096,"store":false,"user":"u","metadata":{},"prompt_cache_key":"k","provider":{},"models":["host-model"],"usage":{"include":true},"include_reasoning":true}';
    expect(written(body, { forwards: ['prompt_cache_key'] })).toBe(
      '{"model":"host-model","input":"x","max_output_tokens":4096,"store":false,"prompt_cache_key":"k"}',
    );
  });

  test('asks no host for a usage frame, which this wire does not have', () => {
    const body = (options: string) =>
      `{"model":"host-model","input":"x","max_output_tokens":4096,"store":false,"stream":true,"stream_options":${options}}`;
    expect(written(body('{"include_usage":true,"include_obfuscation":false}'))).toBe(
      body('{"include_obfuscation":false}'),
    );
    expect(written(body('{"include_usage":true}'))).not.toContain('stream_options');
  });
});

describe('effort', () => {
  const body = (reasoning: string) =>
    `{"model":"host-model","input":"x","max_output_tokens":4096,"store":false,"reasoning":${reasoning}}`;

  test('is the nearest the model has, beside what else stands there', () => {
    expect(written(body('{"effort":"xhigh","summary":"auto"}'), { reasoningEffort: 'high' })).toBe(
      body('{"effort":"high","summary":"auto"}'),
    );
    expect(written(body('{"max_tokens":2000,"exclude":true}'), { reasoningEffort: 'low' })).toBe(
      body('{"effort":"low"}'),
    );
  });

  test('in another spelling becomes this wire’s', () => {
    const sent = written(
      '{"model":"host-model","input":"x","max_output_tokens":4096,"store":false,"reasoning_effort":"low"}',
      {
        reasoningEffort: 'low',
      },
    );
    expect(sent).toBe(body('{"effort":"low"}'));
  });

  test('is left out for a model that has none', () => {
    expect(written(body('{"effort":"none"}'))).not.toContain('reasoning');
    expect(written(body('{"effort":"none","summary":null}'))).toBe(body('{"summary":null}'));
    expect(written(body('{"summary":"detailed"}'))).toBe(body('{"summary":"detailed"}'));
  });
});

test('reasoning of another vendor never reaches this host; its own passes byte for byte', () => {
  const sealed = wrapForeign({ vendor: 'another', form: 'signature', data: 'sig' });
  const own = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA=="}';
  const foreign = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"${sealed}"}`;
  const rest = '{"role":"user","content":"x"}';
  const body = (items: string) => `{"model":"host-model","input":[${items}],"max_output_tokens":4096,"store":false}`;
  expect(written(body(`${own},${foreign},${rest}`))).toBe(body(`${own},${rest}`));
});
