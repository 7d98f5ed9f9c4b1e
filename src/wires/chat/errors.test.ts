import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { LIMITS } from '../../limits.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import { chat } from './index.ts';

const { writeError, writeStreamError } = chat.client;

const read = (status: number, body: unknown) =>
  chat.relay.readError(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

describe('a host’s error, in whichever shape', () => {
  const SHAPES: readonly (readonly [string, number, unknown, object])[] = [
    [
      'all four members',
      400,
      { error: { message: 'No such parameter.', type: 'invalid_request_error', param: 'top_k', code: 'unsupported' } },
      { kind: 'request', message: 'No such parameter.', code: 'unsupported', param: 'top_k' },
    ],
    [
      'the messages wire',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Wrong.' }, request_id: 'req_9' },
      { kind: 'request', message: 'Wrong.', code: null, param: null },
    ],
    ['only a detail', 401, { detail: 'Invalid API Key' }, { kind: 'credentials', message: 'Invalid API Key' }],
    [
      'a string for an error, and 400 for a bad key',
      400,
      { code: 'invalid-argument', error: 'Incorrect API key provided: ab***yz.' },
      { kind: 'credentials', code: 'invalid-argument' },
    ],
    [
      'an integer code inside a list, and 400 for a bad key',
      400,
      [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details: [] } }],
      { kind: 'credentials', code: null },
    ],
    [
      'a code in digits, no type',
      401,
      { error: { code: '401', message: 'Denied.' } },
      { kind: 'credentials', code: '401' },
    ],
    [
      'an integer code and metadata',
      429,
      { error: { code: 429, message: 'Slow down', metadata: { raw: 'x' } }, user_id: 'user_1' },
      { kind: 'rate', message: 'Slow down', code: null },
    ],
    [
      'a type of its own',
      500,
      { error: { message: 'Out of memory', type: 'api_error', param: null, code: null } },
      { kind: 'unavailable', message: 'Out of memory' },
    ],
    [
      'an id and a message',
      422,
      { id: 'x1', message: 'too many tools' },
      { kind: 'request', message: 'too many tools' },
    ],
    [
      'flat members',
      400,
      { object: 'error', message: 'Bad.', type: 'BadRequestError', param: 'n', code: 400 },
      { param: 'n' },
    ],
    [
      'the faults a validator found',
      422,
      {
        detail: [
          { loc: ['body', 'n'], msg: 'too large', input: 'secret' },
          { loc: ['body'], msg: 'missing' },
        ],
      },
      { kind: 'request', message: 'body.n: too large; body: missing' },
    ],
    [
      'the same inside a message',
      422,
      { object: 'error', message: { detail: [{ loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] } },
      { message: 'body.x: Extra inputs are not permitted' },
    ],
    ['a bare string', 400, '"no"', { kind: 'request', message: 'no' }],
    ['a page', 503, '<html><h1>503</h1></html>', { kind: 'unavailable', message: '', code: null, param: null }],
    ['nothing', 502, '', { kind: 'unavailable', message: '' }],
    ['a number', 400, '7', { kind: 'request', message: '' }],
  ];

  test.each(SHAPES)('%s', (_name, status, body, expected) => {
    expect(read(status, body)).toMatchObject({ status, ...expected });
  });

  test.each([
    [401, 'credentials'],
    [402, 'credentials'],
    [403, 'credentials'],
    [404, 'credentials'],
    [400, 'request'],
    [413, 'request'],
    [422, 'request'],
    [429, 'rate'],
    [301, 'unavailable'],
    [405, 'unavailable'],
    [408, 'unavailable'],
    [500, 'unavailable'],
    [503, 'unavailable'],
    [529, 'unavailable'],
  ])('%d without words is %s', (status, kind) => {
    expect(read(status, {}).kind).toBe(kind);
  });
});

describe('over the window', () => {
  test.each([
    [400, { message: 'x', code: 'context_length_exceeded', param: 'messages' }],
    [400, { message: "This model's maximum context length is 65536 tokens. However, you requested 80025 tokens." }],
    [400, { message: 'prompt is too long: 210000 tokens > 200000 maximum' }],
    [400, { message: 'input length and `max_tokens` exceed context limit: 198000 + 21333 > 200000' }],
    [400, { message: 'Too many.', type: 'too_many_prompt_tokens' }],
    [400, { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' }],
    [400, { message: 'Input tokens exceed the configured limit of 272000 tokens.' }],
    [400, { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." }],
    [413, { message: 'The request exceeds the context window.' }],
    [
      400,
      {
        message: 'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it',
        type: 'exceed_context_size_error',
        code: 400,
      },
    ],
    [400, { message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.' }],
    [400, { message: 'Please reduce the length of the messages or completion.' }],
    [400, { message: 'too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.' }],
    [400, { message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)' }],
    [400, { message: 'Prompt exceeds max length', code: '1261' }],
    [400, { message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]' }],
    [400, { message: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.' }],
    [400, { message: 'prompt token count of 140000 exceeds the limit of 128000' }],
    [
      422,
      {
        message:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1218 `inputs` tokens and 1500 `max_new_tokens`',
        param: null,
      },
    ],
    [422, { message: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000' }],
    [429, { message: 'Prompt is too long for this tier: maximum context length 8000.' }],
  ])('%d %j', (status, error) => {
    expect(read(status, { error }).kind).toBe('over_window');
  });

  test.each([
    [
      400,
      { message: "Invalid 'tools[0].function.name': 'context_window' is taken.", param: 'tools[0].function.name' },
      'request',
    ],
    [413, { message: 'Request too large on tokens per minute (TPM): Limit 6000', code: 'rate_limit_exceeded' }, 'rate'],
    [429, { message: 'You exceeded your current quota.' }, 'rate'],
    [429, { message: 'Too many tokens, please wait before trying again.' }, 'rate'],
    [500, { message: 'maximum context length' }, 'unavailable'],
  ])('but not %d %j', (status, error, kind) => {
    expect(read(status, { error }).kind).toBe(kind);
  });
});

describe('what is ours to mend', () => {
  test.each([
    'Your credit balance is too low to access the API.',
    'Your organization must be verified to use this model.',
    'Billing hard limit has been reached',
    'Incorrect API key provided',
    'You exceeded your plan: insufficient_quota',
  ])('a 400 that says: %s', (message) => {
    expect(read(400, { error: { message } }).kind).toBe('credentials');
  });

  test('is not a 400 about one of the caller’s own fields', () => {
    const error = {
      message: "Invalid 'tools[0].function.name': 'api_key' is too short.",
      param: 'tools[0].function.name',
    };
    expect(read(400, { error }).kind).toBe('request');
  });

  test('keys and accounts are taken out of what may be passed on', () => {
    const message = 'Bad request of org-9aBcDeFgH1 in proj_12ab34cd with sk-proj-ab***************9z: n is too large.';
    expect(read(400, { error: { message } }).message).toBe('Bad request of *** in *** with ***: n is too large.');
    const plain = 'The tool org_chart_lookup and sk-learn stay.';
    expect(read(400, { error: { message: plain } }).message).toBe(plain);
  });

  test('words are bounded', () => {
    const error = { message: 'x'.repeat(100_000), code: 'y'.repeat(100_000), param: 'z'.repeat(100_000) };
    const { message, code, param } = read(
      400,
      `${JSON.stringify({ error: { ...error, message: 'm' } })}`.slice(0, 60_000),
    );
    expect([message, code, param]).toEqual(['', null, null]);
    const long = { message: 'x'.repeat(20_000), code: 'y'.repeat(9_000), param: 'z'.repeat(9_000) };
    const bounded = read(400, { error: long });
    expect(bounded.message).toHaveLength(LIMITS.hostErrorCharactersMax);
    expect(bounded.code).toHaveLength(LIMITS.hostErrorCodeCharactersMax);
    expect(bounded.param).toHaveLength(LIMITS.hostErrorCodeCharactersMax);
  });

  test('nesting without end is no words', () => {
    expect(read(400, '['.repeat(30_000) + ']'.repeat(30_000))).toMatchObject({ kind: 'request', message: '' });
    expect(read(400, `${'{"message":'.repeat(3_000)}1${'}'.repeat(3_000)}`).message).toBe('');
  });
});

describe('an error inside a stream', () => {
  test.each([
    [{ message: 'x', status_code: 400, code: 'tool_use_failed' }, 400, 'request'],
    [{ message: 'Token limit reached', code: 400 }, 400, 'request'],
    [{ message: 'x', code: '429' }, 429, 'rate'],
    [{ message: 'x', status: 503 }, 503, 'unavailable'],
    [{ message: 'x', type: 'invalid_request_error' }, 400, 'request'],
    [{ message: 'x', type: 'rate_limit_error' }, 429, 'rate'],
    [{ message: 'x', type: 'invalid_request_error', code: 'context_length_exceeded' }, 400, 'over_window'],
    [{ message: 'x', code: 'server_error' }, 500, 'unavailable'],
    ['it broke', 500, 'unavailable'],
    [true, 500, 'unavailable'],
  ])('%j has status %d', (error, status, kind) => {
    expect(readErrorMember(error)).toMatchObject({ status, kind });
  });

  test('keeps the host’s words', () => {
    expect(readErrorMember('it broke').message).toBe('it broke');
    expect(readErrorMember({ message: 'm', code: 'c', param: 'p' })).toMatchObject({
      message: 'm',
      code: 'c',
      param: 'p',
    });
  });
});

test('our own errors have one envelope, in responses and in streams', () => {
  const error = new GatewayError('invalid_value', { param: 'n', message: '`n` must be "one".' });
  const envelope = {
    error: { message: '`n` must be "one".', type: 'invalid_request_error', code: 'invalid_value', param: 'n' },
  };
  const { status, body } = writeError(error, 'req_1');
  expect([status, JSON.parse(body)]).toEqual([400, envelope]);
  expect(writeStreamError(error, 'req_1')).toBe(`data: ${JSON.stringify(envelope)}\n\n`);
});
