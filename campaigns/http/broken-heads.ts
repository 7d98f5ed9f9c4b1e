import { METHODS } from 'node:http';
import type { Random } from '../../test/random.ts';
import type { AttackClass } from './attack-class.ts';
import { bytes, CLOSE, goodCall, HOST, JSON_TYPE, lengthOf, smallCall, write } from './raw-request.ts';

/** Any byte. */
function byte(random: Random): string {
  return String.fromCharCode(random.below(256));
}

const NASTY = ['\0', '\r', '\n', '\r\n', '\t', ' ', ':', '\x7f', '\x80', '\xff', '%', '/', '..', ';', ',', '"', '\\'];

/** The text with a few bytes changed, removed, doubled or inserted. */
function mutated(text: string, random: Random): string {
  let result = text;
  for (let edits = random.between(1, 4); edits > 0; edits--) {
    const at = random.below(result.length + 1);
    const cut = random.pick([0, 0, 1, 1, 2, 10]);
    const put = random.pick([byte(random), random.pick(NASTY), result.slice(at, at + random.below(30)), '']);
    result = result.slice(0, at) + put + result.slice(at + cut);
  }
  return result;
}

const ODD_LINES: readonly string[] = [
  'no colon here',
  ': no name',
  'na me: x',
  'name : x',
  ' folded: x',
  'x: a\r\n b',
  'x: a\rb',
  'x: a\nb',
  'x: \0',
  'x: \x01\x02',
  'x\xe9: y',
  'x: \xff\xfe',
  'host: evil.example',
  'Host: gateway.example',
  'content-type: text/plain',
  'content-encoding: gzip',
  'expect: a-miracle',
  'expect: 100-continue, 100-continue',
  'upgrade: websocket',
  'upgrade: h2c',
  'connection: upgrade',
  'connection: keep-alive, close, x-api-key',
  'te: trailers',
  'trailer: authorization',
  'authorization: Bearer \xff',
  'authorization: Basic AAAA',
  `authorization: Bearer ${'a'.repeat(8000)}`,
  'x-api-key: ',
  'x-gateway-max-cost-nanousd: NaN',
  'x-gateway-max-cost-nanousd: 99999999999999999999999999',
  'idempotency-key: \x7f',
  `idempotency-key: ${'k'.repeat(300)}`,
  'anthropic-version: nothing',
  `anthropic-beta: ${'b,'.repeat(3000)}`,
  'origin: null',
  'origin: http://evil.example',
  'accept-encoding: gzip;q=0, *;q=1e999',
  'range: bytes=0-',
  'x-forwarded-host: evil.example',
  'x-http-method-override: DELETE',
  '__proto__: x',
  'constructor: x',
];

const ODD_VERSIONS = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.2',
  'HTTP/9.9',
  'http/1.1',
  'HTTP/1.1 ',
  '',
  'ICE/1.0',
];
const ODD_METHODS = [...METHODS, 'get', 'STEAL', 'GE\0T', 'G ET', '', '\xff', 'A'.repeat(1000), 'PRI'];

export const BROKEN_HEADS: readonly AttackClass[] = [
  {
    name: 'heads with a few bytes changed',
    weight: 16,
    make: (random, { key }) => {
      const text = write(goodCall(random, key));
      const headEnd = text.indexOf('\r\n\r\n') + 4;
      const broken = mutated(text.slice(0, headEnd), random) + text.slice(headEnd);
      return { pieces: [bytes(broken)], after: 'wait-a-while', answersMax: 3 };
    },
  },
  {
    name: 'header lines nobody should send',
    weight: 12,
    make: (random, { key }) => {
      const body = smallCall(random);
      const odd = Array.from({ length: random.between(1, 3) }, () => random.pick(ODD_LINES));
      const lines = [HOST, key, JSON_TYPE, lengthOf(body), CLOSE, ...odd];
      const text = write({ method: 'POST', target: '/v1/chat/completions', lines: shuffled(lines, random), body });
      return { pieces: [bytes(text)], after: 'wait-a-while', answersMax: 2 };
    },
  },
  {
    name: 'methods and versions of all kinds',
    weight: 8,
    make: (random, { key }) => {
      const target = random.pick([
        '/',
        '/v1/models',
        '/v1/chat/completions',
        '/v1/messages',
        '/v1/keys/cloud',
        '*',
        'a:1',
      ]);
      const version = random.chance(0.7) ? 'HTTP/1.1' : random.pick(ODD_VERSIONS);
      const lines = random.chance(0.8) ? [HOST, key, CLOSE] : [key, CLOSE];
      const text = write({ method: random.pick(ODD_METHODS), target, version, lines });
      return { pieces: [bytes(text)], after: 'wait-a-while', answersMax: 2 };
    },
  },
  {
    name: 'heads too long or too many',
    weight: 3,
    make: (random, { key }) => {
      const more = random.pick([
        () => [`x: ${'y'.repeat(random.between(10_000, 80_000))}`],
        () => Array.from({ length: random.between(101, 3000) }, (_, at) => `x${at}: y`),
        () => Array.from({ length: random.between(90, 110) }, () => 'x: y'),
        () => [`${'n'.repeat(40_000)}: y`],
      ])();
      const text = write({ lines: [HOST, ...more, key, CLOSE] });
      return { pieces: [bytes(text)], after: 'wait-a-while', answersMax: 1 };
    },
  },
  {
    name: 'bytes that are no HTTP',
    weight: 3,
    make: (random) => {
      const noise = random.pick([
        () => Array.from({ length: random.between(1, 3000) }, () => byte(random)).join(''),
        () => '\r\n'.repeat(random.between(1, 5000)),
        () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
        () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        () => `GET /${'a'.repeat(random.between(30_000, 100_000))}`,
        () => 'EHLO gateway.example\r\n',
        () => '\0'.repeat(100),
        () => '',
      ])();
      return { pieces: [bytes(noise)], after: 'wait-a-while', answersMax: 1 };
    },
  },
];

function shuffled(lines: readonly string[], random: Random): string[] {
  const result = [...lines];
  for (let at = result.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
}

const TARGET_PIECES = [
  ...[
    '/',
    '//',
    '/./',
    '/../',
    '..',
    '.',
    '%2e',
    '%2E%2e',
    '%2f',
    '%2F',
    '%5c',
    '\\',
    '%00',
    '%0d%0a',
    '%',
    '%zz',
    '#',
  ],
  ...['v1', 'api', 'models', 'chat', 'completions', 'messages', 'receipts', 'keys', 'cloud', 'catalog', 'balance'],
  ...[
    'metrics',
    'livez',
    'sim-gpt',
    'req_1',
    '?',
    '&',
    '=',
    ';',
    ':',
    '@',
    '*',
    '~',
    'http://evil.example',
    '\xe9',
    '%C3%A9',
  ],
];

export const ODD_TARGETS: readonly AttackClass[] = [
  {
    name: 'targets of all kinds',
    weight: 14,
    make: (random, { key }) => {
      const pieces = Array.from({ length: random.between(1, 9) }, () => random.pick(TARGET_PIECES));
      const target = (random.chance(0.8) ? '/' : '') + pieces.join(random.chance(0.3) ? '/' : '');
      const method = random.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']);
      const body = method === 'POST' || method === 'PUT' ? smallCall(random) : '';
      const lines = [HOST, key, CLOSE, ...(body === '' ? [] : [JSON_TYPE, lengthOf(body)])];
      return { pieces: [bytes(write({ method, target, lines, body }))], after: 'wait-a-while', answersMax: 1 };
    },
  },
  {
    name: 'targets without end',
    weight: 1,
    make: (random, { key }) => {
      const unit = random.pick(['a', '%41', '/a', '/..', '%2f', '?a=', '&x=%00']);
      const target = `/v1/models/${unit.repeat(random.between(100, 9000))}`;
      return { pieces: [bytes(write({ target, lines: [HOST, key, CLOSE] }))], after: 'wait-a-while', answersMax: 1 };
    },
  },
];
