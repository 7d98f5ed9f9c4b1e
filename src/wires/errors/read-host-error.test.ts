import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { readErrorMember, readHostError } from './read-host-error.ts';

const read = (status: number, body: unknown) =>
  readHostError(status, body === null ? null : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

describe('the words of a host, in whichever shape it said them', () => {
  test.each([
    [
      { error: { message: 'No such thing', code: 'c', param: 'p', type: 't' } },
      { message: 'No such thing', code: 'c', param: 'p' },
    ],
    [[{ error: { message: 'Listed', code: 7 } }], { message: 'Listed', code: null }],
    [{ error: 'Bare' }, { message: 'Bare' }],
    [{ message: 'Plain' }, { message: 'Plain' }],
    [{ detail: 'Detailed' }, { message: 'Detailed' }],
    [{ detail: { error_type: 'api_usage_error', message: 'Invalid request.' } }, { message: 'Invalid request.' }],
    [
      { detail: [{ loc: ['body', 'n', 0], msg: 'too small' }, { msg: 'odd' }] },
      { message: 'body.n.0: too small; odd' },
    ],
    [{ error: { message: { detail: [{ loc: ['q'], msg: 'bad' }] } } }, { message: 'q: bad' }],
    ['<html>', { message: '' }],
    ['', { message: '' }],
  ])('%j', (body, said) => {
    expect(read(400, body)).toMatchObject({ kind: 'request', status: 400, ...said });
  });

  test('without our accounts, and not without end', () => {
    expect(read(400, { detail: 'org-ABC12345 and proj_x9y8z7 may not' }).message).toBe('*** and *** may not');
    expect(read(400, { detail: 'x'.repeat(5000) }).message).toHaveLength(LIMITS.hostErrorCharactersMax);
  });

  test('without half of a character, by a cut or by the host', () => {
    const before = 'x'.repeat(LIMITS.hostErrorCharactersMax - 1);
    expect(read(400, { detail: `${before}😀` }).message).toBe(before);
    expect(read(400, { detail: 'bad \ude00 text' }).message).toBe('bad \ufffd text');
  });

  test('within the time of a test, though each part of a long message may be the beginning of an account', () => {
    const said = 'sk-'.repeat(120_000);
    const error = readErrorMember({ message: said, code: said, param: said, type: said });
    expect(error.message).toBe(said.slice(0, LIMITS.hostErrorCharactersMax));
    expect(error.code).toBe(said.slice(0, LIMITS.hostErrorCodeCharactersMax));
  });
});

describe('what it means', () => {
  test.each([
    [401, {}, 'credentials'],
    [404, { error: { message: 'The model does not exist' } }, 'credentials'],
    [429, {}, 'rate'],
    [500, {}, 'unavailable'],
    [400, { error: { message: 'Incorrect API key provided' } }, 'credentials'],
    [400, { error: { message: 'maximum context length is 2049 tokens' } }, 'over_window'],
    [400, { error: { message: 'Rate limit: 5 requests per minute' } }, 'rate'],
    [422, { error: { message: 'context_length of this field', param: 'n' } }, 'request'],
    [413, '', 'over_window'],
    [413, null, 'request'],
    [413, '<html><h1>413 Request Entity Too Large</h1></html>', 'request'],
    [400, '', 'request'],
    [400, { detail: { error_type: 'max_tokens_exceeded' } }, 'over_window'],
    [400, { error: { type: 'max_tokens_exceeded', message: 'The output limit is too high.' } }, 'request'],
    [400, { detail: { error_type: 'api_usage_error', message: 'Invalid request.' } }, 'request'],
    [400, { detail: { error_type: 'api_usage_error', message: 'Unknown model: jev-0.9' } }, 'credentials'],
    [400, { detail: 'Unknown model: q. Must have at most 255 choices.' }, 'request'],
  ])('%d %j is about %s', (status, body, kind) => {
    expect(read(status, body).kind).toBe(kind);
  });
});

describe('what a caller provokes says nothing against our key or the model', () => {
  test.each([
    [404, { error: { message: "Item with id 'rs_model' not found. Items are not persisted." } }, 'request'],
    [404, { error: { message: "Response with id 'resp_1' not found." } }, 'request'],
    [404, { error: { message: 'Item', code: 'model_not_found' } }, 'credentials'],
    [404, { error: { message: "The model 'item' does not exist" } }, 'credentials'],
    [
      400,
      { error: { message: "The model 'x' does not exist", code: 'model_not_found', param: 'model' } },
      'credentials',
    ],
    [422, { message: 'Invalid model: x', type: 'invalid_model', code: '1500' }, 'credentials'],
    [403, '<!DOCTYPE html><title>Attention Required!</title>', 'unavailable'],
    [403, '', 'credentials'],
    [403, { error: { message: 'Not allowed' } }, 'credentials'],
    [400, { error: { message: "'your account' is no role" } }, 'request'],
    [400, { error: { message: "role 'a' your account 'b' is none" } }, 'request'],
    [400, { error: { message: "input_value='it\\'s billing', type=str" } }, 'request'],
    [400, { error: { message: "You didn't give an API key, and it's needed" } }, 'credentials'],
    [400, { error: { message: 'Incorrect API key provided: "abc"' } }, 'credentials'],
  ])('%d %j is about %s', (status, body, kind) => {
    expect(read(status, body).kind).toBe(kind);
  });
});

describe('an error where an answer should be', () => {
  test.each([
    ['gone', 500],
    [{ message: 'm', code: 429 }, 429],
    [{ message: 'm', code: '503' }, 503],
    [{ message: 'm', status: 400 }, 400],
    [{ message: 'm', type: 'invalid_request_error', code: 'x' }, 400],
    [{ message: 'm', type: 'rate_limit_error' }, 429],
    [{ message: 'm', code: 7 }, 500],
  ])('%j has the status %d', (error, status) => {
    expect(readErrorMember(error).status).toBe(status);
  });
});
