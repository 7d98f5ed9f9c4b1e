import { Random } from '../../test/random.ts';
import { bodyText, connectionField, framed, headerField, lineEnd, part } from './fields.ts';
import { mutate } from './mutate.ts';

/** The bytes of one connection and where they are cut, made from nothing but the seed and the number. */
export interface Case {
  readonly bytes: Buffer;
  readonly cuts: readonly number[];
}

const METHODS = ['GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'M-SEARCH'];
const ODD_METHODS = [
  'get',
  'Post',
  '',
  'G ET',
  'FOO',
  'QUX-Y',
  'CONNECT',
  'PRI',
  'SOURCE',
  'GET\t',
  ' GET',
  'G\0T',
  'G\xc9T',
  'X'.repeat(40),
  'QUERY',
];
const TARGETS = ['/', '/v1/models', '/v1/chat/completions', '/a?b=c&d', '/a%20b', '/a?b=%2f..', '/a;b=c', "/~!$'()*,"];
const ODD_TARGETS = [
  '',
  '*',
  'a',
  '?a',
  'http://h/a',
  'http://h',
  'https://u@h:1/a',
  'h:80',
  '/a b',
  '/a#b',
  '/a?b#c',
  '/\xe9',
  '/a?\xff',
  '/a\x7f',
  '/a\0',
  '/a\tb',
  '/a?b\tc',
  '/a\\b',
  '/"<>{}|^`',
  '/a?"<>{}|^`\\',
  '//x',
  '/../x',
  '/%zz',
  '/a?%zz',
];
const VERSIONS = [...Array(12).fill('HTTP/1.1'), 'HTTP/1.0'] as readonly string[];
const ODD_VERSIONS = [
  'HTTP/1.2',
  'HTTP/1.9',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/3.0',
  'HTTP/1',
  'HTTP/1.',
  'HTTP/1.10',
  'HTTP/11.1',
  'HTTP/01.1',
  'http/1.1',
  'HTTP/1,1',
  'HTTP /1.1',
  'HTTP/1.1 ',
  'ICE/1.0',
  'RTSP/1.0',
  '',
];
const HOSTS = ['Host: h', 'host: gateway.example:8080', 'Host: 127.0.0.1', 'Host: [::1]:80', 'HOST:h'];
const ODD_HOSTS = [
  'Host:',
  'Host: h HTTP/0.9',
  'Host: caf\xe9',
  'Host: h/x',
  'Host: u@h',
  'Host: [::1',
  'Host: h\r\nHost: h',
  'Host : h',
  ' Host: h',
  'X-Host: h',
];
const SPECIAL = [
  'Expect: 100-continue',
  'Expect: other',
  'Upgrade: h2c',
  'Upgrade: h2c\r\nConnection: Upgrade',
  'Upgrade: websocket',
  'Connection: upgrade',
];
const NEXT_REQUEST = 'GET /next HTTP/1.1\r\nHost: next\r\n\r\n';

function request(random: Random): string {
  const space = (): string => part(random, [' '], ['  ', '\t', '', '\x0b']);
  const method = part(random, METHODS, ODD_METHODS);
  const target = part(random, TARGETS, ODD_TARGETS);
  const line = `${method}${space()}${target}${space()}${part(random, VERSIONS, ODD_VERSIONS)}${lineEnd(random)}`;
  const { fields, body } =
    random.chance(0.35) && method !== 'POST' ? { fields: [], body: '' } : framed(random, bodyText(random));
  const lines = [part(random, HOSTS, ODD_HOSTS), ...otherFields(random), ...fields];
  if (random.chance(0.06)) lines.push(random.pick(SPECIAL));
  return `${line}${shuffled(random, lines)
    .map((each) => `${each}${lineEnd(random)}`)
    .join('')}${lineEnd(random)}${body}`;
}

function otherFields(random: Random): string[] {
  const fields = Array.from({ length: random.below(5) }, () => headerField(random));
  if (random.chance(0.15)) fields.push(connectionField(random));
  if (fields.length > 0 && random.chance(0.1)) fields.push(random.pick(fields));
  return fields;
}

function shuffled(random: Random, lines: readonly string[]): string[] {
  const mixed = [...lines];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
  }
  return mixed;
}

/** One to three requests on a connection; most are followed by one that shows where the last ended. */
export function requestCase(seed: number, number: number): Case {
  const random = randomOf(seed, number);
  let text = random.chance(0.05) ? random.pick(['\r\n', '\n', '\r\n\r\n', ' ', '\0']) : '';
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left--) {
    text += request(random);
    if (random.chance(0.03)) text += random.pick(['\r\n', '\n', '\r', 'x', '\0']);
  }
  return finished(random, random.chance(0.85) ? text + NEXT_REQUEST : text, request);
}

const STATUS_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 201 Created',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 400 Bad Request',
  'HTTP/1.1 429 ',
  'HTTP/1.1 500 caf\xe9',
  'HTTP/1.1 503 a\tb',
];
const ODD_STATUS_LINES = [
  'HTTP/1.1 200',
  'HTTP/1.1  200 OK',
  'HTTP/1.1 2000 OK',
  'HTTP/1.1 20 OK',
  'HTTP/1.1 099 x',
  'HTTP/1.1 000 x',
  'HTTP/1.1 600 x',
  'HTTP/1.1 999 x',
  'HTTP/1.1 2x0 OK',
  'HTTP/1.1 -20 OK',
  'HTTP/1.1 200\tOK',
  'HTTP/1.1\t200 OK',
  'HTTP/1.1 200 a\0b',
  'HTTP/1.1 200 a\x7fb',
  'HTTP/1.1 200 a\rb',
  'HTTP/1.1 200 a\nb',
  'HTTP/1.2 200 OK',
  'HTTP/2.0 200 OK',
  'HTTP/2 200',
  'HTTP/0.9 200 OK',
  'HTTP/1 200 OK',
  'http/1.1 200 OK',
  ' HTTP/1.1 200 OK',
  'ICY 200 OK',
  'SSH-2.0-OpenSSH',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/1.1 205 Reset Content',
];
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n',
  'HTTP/1.1 102 Processing\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n',
  'HTTP/1.0 100 Continue\r\n\r\n',
  'HTTP/1.1 199 x\r\nConnection: close\r\n\r\n',
];

function answer(random: Random): string {
  const interim = random.chance(0.12) ? random.pick(INTERIM).repeat(random.pick([1, 1, 2])) : '';
  const line = `${part(random, STATUS_LINES, ODD_STATUS_LINES)}${lineEnd(random)}`;
  const text = bodyText(random);
  const { fields, body } = random.chance(0.2) ? { fields: [], body: text } : framed(random, text);
  const lines = shuffled(random, [...otherFields(random), ...fields]);
  return `${interim}${line}${lines.map((each) => `${each}${lineEnd(random)}`).join('')}${lineEnd(random)}${body}`;
}

/** One answer, sometimes with more bytes behind it. */
export function answerCase(seed: number, number: number): Case {
  const random = randomOf(seed, number);
  const before = random.chance(0.03) ? random.pick(['\r\n', '\n', ' ', '\0', 'x']) : '';
  const behind = random.chance(0.25) ? random.pick(['\r\n', 'x', '\0', 'HTTP/1.1 200 OK\r\n\r\n', answer(random)]) : '';
  return finished(random, before + answer(random) + behind, answer);
}

/** Mutated or not, and cut at random places. */
function finished(random: Random, text: string, another: (random: Random) => string): Case {
  const valid = Buffer.from(text, 'latin1');
  const bytes = random.chance(0.4) ? mutate(random, valid, () => Buffer.from(another(random), 'latin1')) : valid;
  const cuts = random.chance(0.4)
    ? []
    : Array.from({ length: random.between(1, 5) }, () => random.below(bytes.length + 1));
  return { bytes, cuts };
}

function randomOf(seed: number, number: number): Random {
  return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
}

/** The bytes in pieces; no piece is empty. */
export function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.filter((at) => at > 0 && at < bytes.length))].sort((a, b) => a - b);
  return [0, ...ends].map((from, at) => bytes.subarray(from, ends[at] ?? bytes.length));
}
