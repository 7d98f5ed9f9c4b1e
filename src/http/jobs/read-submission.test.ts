import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { readJob, readLine } from './read-submission.ts';

const NOW_MS = Date.UTC(2027, 0, 31, 12);
const DAY_MS = 86_400_000;
const ENDPOINTS = ['/v1/chat/completions', '/v1/messages'];
const BODY = '{ "model": "m",  "messages": [] , "stream": false}';

const iso = (ms: number): string => new Date(ms).toISOString();

function job(fields: object = {}): Buffer {
  const rest = JSON.stringify({ endpoint: '/v1/messages', ...fields }).slice(1);
  return Buffer.from(`{"body":${BODY},${rest}`);
}

function line(fields: object = {}): Buffer {
  const rest = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/messages', ...fields }).slice(1);
  return Buffer.from(`{"body":${BODY},${rest}`);
}

const readDraft = (text: Buffer | string) => readJob(Buffer.from(text), ENDPOINTS, NOW_MS);
const readLineOf = (text: Buffer | string) => readLine(Buffer.from(text), ENDPOINTS);

describe('a job', () => {
  test('has the bytes of its body as they were sent, and every term', () => {
    const { request, terms } = readDraft(
      job({
        not_before: '2027-01-31T14:00:00+01:00',
        expires_at: iso(NOW_MS + 30 * DAY_MS),
        result_ttl_seconds: 60,
        on_unknown: 'retry',
        webhook: 'billing',
        metadata: { a: 'b' },
        custom_id: 'mine',
      }),
    );
    expect(request.body.toString()).toBe(BODY);
    expect(request).toMatchObject({ endpoint: '/v1/messages', customId: 'mine' });
    expect(terms).toEqual({
      notBeforeMs: NOW_MS + 3_600_000,
      expiresMs: NOW_MS + 30 * DAY_MS,
      resultTtlMs: 60_000,
      onUnknown: 'retry',
      webhook: 'billing',
      metadata: { a: 'b' },
    });
  });

  test('needs no terms, and null is the same as nothing', () => {
    const nothing = { not_before: null, expires_at: null, result_ttl_seconds: null, on_unknown: null, webhook: null };
    const bare = readDraft(job());
    expect(readDraft(job({ ...nothing, metadata: null, custom_id: null }))).toEqual(bare);
    expect(bare.terms).toMatchObject({ notBeforeMs: null, expiresMs: null, resultTtlMs: null, onUnknown: 'fail' });
    expect(bare.request.customId).toBeNull();
  });

  test.each<[string, string | Buffer, string, string | null]>([
    ['is not JSON', '{"endpoint":', 'invalid_request_body', 'endpoint'],
    ['is a list', '[]', 'invalid_request_body', null],
    [
      'has a key twice',
      '{"endpoint":"/v1/messages","endpoint":"/v1/chat/completions","body":{}}',
      'duplicate_key',
      'endpoint',
    ],
    ['has an unknown field', job({ priority: 1 }), 'unsupported_parameter', 'priority'],
    ['has an unknown field with an odd name', job({ 'a b': 1 }), 'unsupported_parameter', null],
    ['has no endpoint', '{"body":{}}', 'missing_required_parameter', 'endpoint'],
    ['has an unknown endpoint', job({ endpoint: '/v1/images' }), 'invalid_value', 'endpoint'],
    ['has an endpoint without its prefix', job({ endpoint: '/messages' }), 'invalid_value', 'endpoint'],
    ['has no body', '{"endpoint":"/v1/messages"}', 'missing_required_parameter', 'body'],
    ['has a body that is text', '{"endpoint":"/v1/messages","body":"{}"}', 'invalid_value', 'body'],
    ['wants a stream', '{"endpoint":"/v1/messages","body":{"stream":true}}', 'unsupported_feature', 'body.stream'],
    [
      'has a stream that is text',
      '{"endpoint":"/v1/messages","body":{"stream":"no"}}',
      'unsupported_feature',
      'body.stream',
    ],
    ['begins at a time without a zone', job({ not_before: '2027-02-01T12:00:00' }), 'invalid_value', 'not_before'],
    ['begins on a day that does not exist', job({ not_before: '2027-02-30T12:00:00Z' }), 'invalid_value', 'not_before'],
    ['begins too late', job({ not_before: iso(NOW_MS + 31 * DAY_MS) }), 'invalid_value', 'not_before'],
    [
      'begins after its latest start',
      job({ not_before: iso(NOW_MS + DAY_MS), expires_at: iso(NOW_MS + DAY_MS) }),
      'invalid_value',
      'not_before',
    ],
    ['has expired', job({ expires_at: iso(NOW_MS) }), 'invalid_value', 'expires_at'],
    ['expires too late', job({ expires_at: iso(NOW_MS + 30 * DAY_MS + 1) }), 'invalid_value', 'expires_at'],
    ['expires at a number', job({ expires_at: 1_800_000_000 }), 'invalid_value', 'expires_at'],
    ['keeps its result for no time', job({ result_ttl_seconds: 0 }), 'invalid_value', 'result_ttl_seconds'],
    ['keeps its result too long', job({ result_ttl_seconds: 2_592_001 }), 'invalid_value', 'result_ttl_seconds'],
    ['keeps its result for half a second', job({ result_ttl_seconds: 0.5 }), 'invalid_value', 'result_ttl_seconds'],
    ['has another word for unknown', job({ on_unknown: 'ignore' }), 'invalid_value', 'on_unknown'],
    ['has a webhook without a name', job({ webhook: '' }), 'invalid_value', 'webhook'],
    ['has a URL object for a webhook', job({ webhook: { url: 'x' } }), 'invalid_value', 'webhook'],
    ['has a list for metadata', job({ metadata: ['a'] }), 'invalid_value', 'metadata'],
    [
      'has too much metadata',
      job({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ''])) }),
      'invalid_value',
      'metadata',
    ],
    ['has a number in its metadata', job({ metadata: { a: 1 } }), 'invalid_value', 'metadata'],
    ['has a long name in its metadata', job({ metadata: { ['a'.repeat(65)]: '' } }), 'invalid_value', 'metadata'],
    ['has a long value in its metadata', job({ metadata: { a: 'a'.repeat(513) } }), 'invalid_value', 'metadata'],
    ['has a NUL in its metadata', job({ metadata: { a: '\0' } }), 'invalid_value', 'metadata'],
    ['has an empty id', job({ custom_id: '' }), 'invalid_value', 'custom_id'],
    ['has a long id', job({ custom_id: 'a'.repeat(LIMITS.jobCustomIdCharsMax + 1) }), 'invalid_value', 'custom_id'],
    ['has a number for an id', job({ custom_id: 7 }), 'invalid_value', 'custom_id'],
  ])('that %s is refused with the name of the field', (_, text, kind, param) => {
    expect(() => readDraft(text)).toThrow(expect.objectContaining({ kind, param }));
  });
});

describe('a line of a group', () => {
  test('has the form of the vendors’ batch files', () => {
    const { body, ...rest } = readLineOf(line());
    expect(body.toString()).toBe(BODY);
    expect(rest).toEqual({ endpoint: '/v1/messages', customId: 'a' });
  });

  test.each<[string, string | Buffer, string, string | null]>([
    ['is text', '"a"', 'invalid_request_body', null],
    ['has no id', line({ custom_id: undefined }), 'missing_required_parameter', 'custom_id'],
    ['has no method', line({ method: undefined }), 'missing_required_parameter', 'method'],
    ['has another method', line({ method: 'GET' }), 'invalid_value', 'method'],
    ['has no URL', line({ url: undefined }), 'missing_required_parameter', 'url'],
    ['has a whole URL', line({ url: 'https://x.example/v1/messages' }), 'invalid_value', 'url'],
    ['has terms of its own', line({ expires_at: iso(NOW_MS + DAY_MS) }), 'unsupported_parameter', 'expires_at'],
  ])('that %s is refused with the name of the field', (_, text, kind, param) => {
    expect(() => readLineOf(text)).toThrow(expect.objectContaining({ kind, param }));
  });
});
