import type { Random } from '../../test/random.ts';

/** Parts of messages, valid and unusual ones. Each character of a text is one byte. */

/** How often a part is an unusual one. */
const ODD_CHANCE = 0.035;

export function part(random: Random, usual: readonly string[], odd: readonly string[]): string {
  return random.pick(random.chance(ODD_CHANCE) ? odd : usual);
}

const ODD_LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '\r\n\r', '\0\r\n', ' \r\n', '\t\r\n', '\x0b\r\n', '\x85\r\n'];

export function lineEnd(random: Random): string {
  return random.chance(ODD_CHANCE / 6) ? random.pick(ODD_LINE_ENDS) : '\r\n';
}

const NAMES = [
  'Accept',
  'accept-encoding',
  'Authorization',
  'CACHE-CONTROL',
  'Content-Type',
  'content-type',
  'Cookie',
  'Date',
  'Set-Cookie',
  'User-Agent',
  'X-Api-Key',
  'x-request-id',
  "!#$%&'*+-.^_`|~",
  '1',
  '__proto__',
];
const ODD_NAMES = [
  '',
  ' ',
  ' X',
  '\tX',
  'X ',
  'X\t',
  'X Y',
  'X(Y)',
  '"X"',
  'X\xe9',
  'X\0',
  'X\x7f',
  'X/Y',
  '[X]',
  'Content-Length ',
  'Transfer-Encoding\t',
  'Content_Length',
  'Proxy-Connection',
  'TE',
  'Trailer',
];
const VALUES = [
  'a',
  'application/json',
  'text/plain; charset=utf-8',
  '',
  'a b',
  'a, b',
  '"quoted \\" text"',
  'caf\xe9',
  '\xff\x80',
  'a\tb',
  'x'.repeat(300),
];
const ODD_VALUES = ['a\0b', '\x01', 'a\x7fb', 'a\rb', 'a\nb', 'a\r\n b', 'a\r\n\tb', '\x0bchunked', 'a\x1f', ':', '::'];
const PADDINGS = ['', ' ', ' ', ' ', '  ', '\t', ' \t '];

export function headerField(random: Random): string {
  const name = part(random, NAMES, ODD_NAMES);
  const colon = random.chance(ODD_CHANCE / 4) ? random.pick(['', ' :', '\t:', ';', '=']) : ':';
  const after = random.chance(0.1) ? random.pick([' ', '\t', '  \t']) : '';
  return `${name}${colon}${random.pick(PADDINGS)}${part(random, VALUES, ODD_VALUES)}${after}`;
}

const CONNECTIONS = ['keep-alive', 'Keep-Alive', 'close', 'Close', 'keep-alive, x'];
const ODD_CONNECTIONS = [
  'close, x',
  'x, close',
  'x close',
  'close x',
  'xclose',
  'closed',
  'keep-alive, close',
  'close,keep-alive',
  'upgrade',
  'Upgrade, keep-alive',
  'content-length',
  '',
  ',',
  'close;x',
  ',close',
  '\tclose',
];

export function connectionField(random: Random): string {
  return `Connection: ${random.chance(0.4) ? random.pick(ODD_CONNECTIONS) : random.pick(CONNECTIONS)}`;
}

const TEXTS = [
  '',
  'a',
  'hello',
  '{"model":"m","messages":[]}',
  'GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n',
  '0\r\n\r\n',
  '\r\n\r\n',
  '\0\xff\x80',
  'x'.repeat(700),
];

export function bodyText(random: Random): string {
  if (random.chance(0.7)) return random.pick(TEXTS);
  let text = '';
  for (let left = random.below(40); left > 0; left--) text += String.fromCharCode(random.below(256));
  return text;
}

const EXTENSIONS = [';a', ';a=b', ';a="b c"', ';a="b\\"c";d', ';name=value;other', ';a=""'];
const ODD_EXTENSIONS = [
  ';',
  ';;',
  ';a=',
  ';=b',
  '; a',
  ' ;a',
  ';a =b',
  ';a= b',
  ';a=b ',
  ';a="b',
  ';a="b\\"',
  ';a=b"c"',
  ';a="b"c',
  ';a=\xe9',
  ';a="\xe9\t"',
  ';a="\0"',
  ';a\nb',
  ';a="\r"',
  ' ',
  '\t',
  '5',
  'x',
];
const ODD_SIZES = ['', '-1', '+5', '0x5', ' 5', '5 5', 'g', 'FFFFFFFFFFFFFFFF', '100000000', '5.', '\x005', '1_0'];
const TRAILERS = ['X-Sum: 1', 'x: ', 'Server-Timing: a;dur=1', 'x: caf\xe9'];
const ODD_TRAILERS = [
  ' X: y',
  'X Y: y',
  'X : y',
  'X',
  ': y',
  'X: \0',
  'X: y\r\n z',
  'X\xe9: y',
  'X: y\nZ: y',
  'Content-Length: 50',
  'Transfer-Encoding: chunked',
  'Host: other.example',
  'Authorization: other',
  'Trailer: x',
];

/** A body in chunks, with its last chunk, its trailers and the empty line. */
function chunkedText(random: Random, text: string): string {
  let framed = '';
  for (let at = 0; at < text.length; ) {
    const length = random.between(1, text.length - at);
    const end = random.chance(ODD_CHANCE / 2) ? random.pick(['', '\n', '\r', 'x\r\n', '\r\n\r\n']) : '\r\n';
    framed += `${sizeLine(random, length)}${text.slice(at, at + length)}${end}`;
    at += length;
  }
  const trailers = Array.from({ length: random.chance(0.2) ? random.between(1, 3) : 0 }, () =>
    random.pick(random.chance(0.2) ? ODD_TRAILERS : TRAILERS),
  );
  const lines = trailers.map((trailer) => `${trailer}${lineEnd(random)}`).join('');
  return `${framed}${sizeLine(random, 0)}${lines}${lineEnd(random)}`;
}

function sizeLine(random: Random, length: number): string {
  const zeros = random.chance(0.1) ? '0'.repeat(random.between(1, 9)) : '';
  const digits = random.chance(0.5) ? length.toString(16) : length.toString(16).toUpperCase();
  const size = random.chance(ODD_CHANCE / 2) ? random.pick(ODD_SIZES) : zeros + digits;
  const extension = random.chance(0.12) ? random.pick(random.chance(0.2) ? ODD_EXTENSIONS : EXTENSIONS) : '';
  return `${size}${extension}${lineEnd(random)}`;
}

const ODD_LENGTHS = [
  '+5',
  '-5',
  '0x5',
  '5 5',
  '5;',
  '5,',
  '5, 5',
  '5,6',
  '1e1',
  '',
  '05',
  '005',
  '5.0',
  ' 5',
  '5\t',
  '18446744073709551616',
  '99999999999999999999',
  '999999999999999',
  '\x0b5',
];
const ODD_CODINGS = [
  'gzip',
  'identity',
  'gzip, chunked',
  'chunked, gzip',
  'chunked, chunked',
  'chunked,',
  ',chunked',
  'xchunked',
  'chunked;q=1',
  '"chunked"',
  'chunked\0',
  '\x0bchunked',
  '',
  'chunked ',
  'chunked\t',
  'chunked \t ',
  'CHUNKED',
  'identity, chunked',
];

/** Header lines that say where the body ends, and the body as it is sent. */
export function framed(random: Random, text: string): { readonly fields: readonly string[]; readonly body: string } {
  const length = `Content-Length: ${text.length}`;
  const coding = `${random.pick(['Transfer-Encoding', 'transfer-encoding'])}: ${random.pick(['chunked', 'Chunked'])}`;
  if (random.chance(0.15)) return oddlyFramed(random, text);
  if (random.chance(0.5)) return { fields: [length], body: text };
  return { fields: [coding], body: chunkedText(random, text) };
}

function oddlyFramed(random: Random, text: string): { fields: readonly string[]; body: string } {
  const length = `Content-Length: ${random.chance(0.6) ? text.length : random.pick([0, 3, text.length + 1])}`;
  const oddLength = `content-length:${random.pick(PADDINGS)}${random.pick(ODD_LENGTHS)}`;
  const coding = `transfer-encoding:${random.pick(PADDINGS)}${random.chance(0.4) ? 'chunked' : random.pick(ODD_CODINGS)}`;
  const fields = random.pick([
    [length],
    [oddLength],
    [coding],
    [length, length],
    [length, oddLength],
    [length, coding],
    [coding, length],
    [coding, coding],
    [oddLength, coding],
    [],
  ]);
  return { fields, body: random.chance(0.5) ? text : chunkedText(random, text) };
}
