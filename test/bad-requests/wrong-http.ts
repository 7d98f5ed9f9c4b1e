import { LIMITS } from '../../src/limits.ts';
import type { Random } from '../random.ts';
import type { BadClass, BadRequest } from './bad-class.ts';
import { goodBody } from './good-body.ts';

/** The body is valid, but the request around it is not. */
function wrongHttp(
  name: string,
  [status, code]: readonly [number, string],
  make: (random: Random) => BadRequest,
  options: Pick<BadClass, 'times' | 'type' | 'key'> = {},
): BadClass {
  return {
    name,
    status,
    code,
    oneField: false,
    ...options,
    make: (random) => ({ body: JSON.stringify(goodBody(random)), ...make(random) }),
  };
}

function header(name: string, values: readonly (string | string[] | null)[]): (random: Random) => BadRequest {
  return (random) => ({ param: name, headers: { [name]: random.pick(values) } });
}

const PREFIXES = ['/v1', '', '/api/v1', '/openai/v1', '/openai'];
const CALL_PATH = '/chat/completions';

function at(random: Random, path: string): string {
  return random.pick(PREFIXES) + path + random.pick(['', '', '?a=1']);
}

const MEDIA_TYPES = [
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/xml',
  'application/jsonx',
  'application/json-patch+json',
  'application/vnd.api+json',
  'text/json',
  'json',
  '*/*',
  null,
];

const WRONG_METHODS: readonly (readonly [string, string])[] = [
  ...['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'].map((method) => [method, CALL_PATH] as const),
  ...['/models', '/models/sim-gpt', '/catalog', '/balance', '/receipts/req_1'].flatMap((path) =>
    ['POST', 'PUT', 'DELETE', 'PATCH'].map((method) => [method, path] as const),
  ),
];

const REFUSED_PATHS = [
  '/images/generations',
  '/images/edits',
  '/rerank',
  '/moderations',
  '/audio/speech',
  '/audio/transcriptions',
  '/files',
  '/files/file_1/content',
  '/batches',
  '/batches/batch_1/cancel',
  '/fine_tuning/jobs',
  '/assistants',
  '/threads/thread_1/runs',
  '/vector_stores',
  '/realtime/sessions',
];

const UNKNOWN_PATHS = [
  '/',
  '/nothing',
  '/chat',
  '/chat/completion',
  '/chat/completions/1',
  '/Chat/Completions',
  '/v1/v1/chat/completions',
  '/v2/chat/completions',
  '/.env',
  '/sim/calls',
  '/operator/ledger.verify',
  `/${'x'.repeat(2000)}`,
];

/** Some HTTP implementations read each of these as another path, or as invalid. */
const UNCLEAR_PATHS = [
  '/../../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '//chat/completions',
  '/v1//chat/completions',
  '/v1/./chat/completions',
  '/v1/images/../chat/completions',
  '/v1/chat%2fcompletions',
  '/v1/chat%5ccompletions',
  '/v1/chat/completions%00',
  '/v1/chat/completions%0d%0a',
  '/v1/chat/completions#x',
  '/v1/chat/completions%',
  '/v1/receipts/a%2Fb',
];

const ENCODINGS = ['gzip', 'br', 'deflate', 'zstd', 'compress', 'gzip, gzip', 'x-gzip', 'aes128gcm'];

const FOREIGN_HOSTS = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  '127.0.0.1.nip.example',
  '127.0.0.2',
  '0.0.0.0',
  '[::2]',
  'xn--localhost',
];

const FOREIGN_ORIGINS = [
  'https://evil.example',
  'http://localhost.evil.example',
  'http://evil.example:8080',
  'null',
  'file://',
  'chrome-extension://abc',
  'nonsense',
];

const NO_CEILINGS = [
  '',
  '-1',
  '+1',
  '1.5',
  '1e6',
  '0x10',
  'abc',
  '1_000',
  '1,000',
  '½',
  '5 nanousd',
  '9223372036854775808',
  '9'.repeat(400),
];

const NO_KEYS: readonly BadRequest['headers'][] = [
  {},
  { authorization: 'Bearer sk-nonsense' },
  { authorization: 'Bearer ' },
  { authorization: 'Basic dG9sbDpnYXRl' },
  { 'x-api-key': 'tg_live_00000000000000000000000000000000000000' },
  { 'api-key': `tg_live_${'x'.repeat(5000)}` },
  { authorization: ['Bearer a', 'Bearer b'] },
  { authorization: 'Bearer a', 'x-api-key': 'b' },
];

const TOO_LARGE = Buffer.alloc(LIMITS.requestBodyBytesMax + 1, 'x');

export const WRONG_HTTP: readonly BadClass[] = [
  wrongHttp('a media type that is not JSON', [415, 'unsupported_media_type'], header('content-type', MEDIA_TYPES)),
  wrongHttp('a method that is not answered', [405, 'method_not_allowed'], (random) => {
    const [method, path] = random.pick(WRONG_METHODS);
    const body = method === 'GET' || method === 'HEAD' ? { body: null } : {};
    return { param: null, method, path: random.pick(PREFIXES) + path, ...body };
  }),
  wrongHttp('a route that is refused', [404, 'unsupported_route'], (random) => ({
    param: null,
    method: random.pick(['POST', 'PUT', 'DELETE']),
    path: at(random, random.pick(REFUSED_PATHS)),
  })),
  wrongHttp('a route that nobody knows', [404, 'unknown_url'], (random) => ({
    param: null,
    path: random.pick(UNKNOWN_PATHS) + random.pick(['', '?a=1']),
  })),
  wrongHttp('a path that is another one to somebody', [400, 'bad_request'], (random) => ({
    param: null,
    path: random.pick(UNCLEAR_PATHS) + random.pick(['', '?a=1']),
  })),
  wrongHttp('an encoded body', [415, 'unsupported_media_type'], header('content-encoding', ENCODINGS)),
  wrongHttp(
    'two types',
    [400, 'invalid_header'],
    header('content-type', [
      ['application/json', 'application/json'],
      ['application/json', 'text/plain'],
    ]),
  ),
  wrongHttp('too many headers', [431, 'request_head_too_large'], (random) => ({
    param: null,
    headers: { 'x-more': Array.from({ length: LIMITS.requestHeadersMax + random.below(300) }, () => 'a') },
  })),
  wrongHttp(
    'a ceiling that is not an amount',
    [400, 'invalid_header'],
    header('x-gateway-max-cost-nanousd', NO_CEILINGS),
  ),
  wrongHttp(
    'a chain of the wrong form',
    [400, 'invalid_header'],
    header('x-gateway-chain', [
      '',
      'a',
      'a;',
      ';1',
      'a;0',
      'a;01',
      'a;100',
      'a;1.5',
      'a b;1',
      'ä;1',
      'a;1;2',
      `${'a'.repeat(65)};1`,
    ]),
  ),
  wrongHttp(
    'two ceilings',
    [400, 'invalid_header'],
    header('x-gateway-max-cost-nanousd', [
      ['1', '2'],
      ['1000000000000', '1000000000000'],
    ]),
  ),
  wrongHttp(
    'a ceiling below the worst case',
    [402, 'cost_ceiling_exceeded'],
    header('x-gateway-max-cost-nanousd', ['0', '1', '100']),
    { type: 'cost_ceiling_exceeded' },
  ),
  wrongHttp('an account without money', [402, 'insufficient_quota'], () => ({ param: null }), {
    type: 'insufficient_allowance',
    key: 'penniless',
  }),
  wrongHttp('a key at its cap', [402, 'key_spend_cap_exceeded'], () => ({ param: null }), {
    type: 'key_spend_cap_exceeded',
    key: 'capped',
  }),
  wrongHttp('a model that the key may not use', [404, 'model_not_found'], () => ({ param: 'model' }), {
    key: 'restricted',
  }),
  wrongHttp(
    'a limit meant for another gateway',
    [400, 'unsupported_feature'],
    header('helicone-ratelimit-policy', ['10;w=60', '1000;w=3600;u=cents;s=user']),
  ),
  wrongHttp('a foreign host', [403, 'forbidden_host'], header('host', FOREIGN_HOSTS)),
  wrongHttp('a foreign origin', [403, 'forbidden_origin'], header('origin', FOREIGN_ORIGINS)),
  wrongHttp('a body too large', [413, 'request_too_large'], () => ({ param: null, body: TOO_LARGE }), { times: 3 }),
  wrongHttp(
    'a body too large, unannounced',
    [413, 'request_too_large'],
    () => ({ param: null, body: TOO_LARGE, chunked: true }),
    {
      times: 3,
    },
  ),
  wrongHttp('no body', [400, 'invalid_request_body'], () => ({ param: null, body: null }), { times: 20 }),
  wrongHttp(
    'no key where every caller needs one',
    [401, 'invalid_api_key'],
    (random) => ({
      param: null,
      headers: random.pick(NO_KEYS)!,
      path: at(random, random.pick([CALL_PATH, '/nothing'])),
    }),
    { key: 'nobody' },
  ),
];
