import type { Random } from '../../test/random.ts';
import type { Answer } from './answers.ts';
import type { AttackClass, Means } from './attack-class.ts';
import { bytes, HOST, JSON_TYPE, smallCall, write } from './raw-request.ts';

/** A request inside another's body: a response to it means that the gateway read other boundaries than a proxy would. */
function hidden(key: string): string {
  return write({ target: '/v1/balance', lines: [HOST, key] });
}

function tellsBalance(_: readonly Answer[], text: string): string | null {
  return text.includes('"object":"balance"') ? 'a hidden request was answered' : null;
}

/** Header lines that make the length of the body ambiguous; no second request may follow. */
const UNCLEAR_LENGTHS: readonly (readonly string[])[] = [
  ['content-length: 5', 'content-length: 6'],
  ['content-length: 5', 'content-length: 5'],
  ['content-length: 5, 5'],
  ['content-length: +5'],
  ['content-length: -5'],
  ['content-length: 0x5'],
  ['content-length: 5 5'],
  ['content-length: 5;'],
  ['content-length: 1e1'],
  ['content-length: 99999999999999999999'],
  ['content-length:'],
  ['content-length : 5'],
  ['content_length: 5', 'content-length: 5', 'Content-Length: 7'],
  ['transfer-encoding: chunked', 'content-length: 5'],
  ['content-length: 5', 'transfer-encoding: chunked'],
  ['transfer-encoding: xchunked'],
  ['transfer-encoding: chunked, identity'],
  ['transfer-encoding: identity, chunked'],
  ['transfer-encoding: gzip, chunked'],
  ['transfer-encoding: chunked', 'transfer-encoding: identity'],
  ['transfer-encoding: identity', 'transfer-encoding: chunked'],
  ['transfer-encoding:\x0bchunked'],
  ['transfer-encoding : chunked'],
  [' transfer-encoding: chunked'],
  ['x: y\ntransfer-encoding: chunked', 'content-length: 5'],
  ['x: y\rtransfer-encoding: chunked', 'content-length: 5'],
  ['transfer-encoding: "chunked"'],
  ['transfer-encoding: chunked\0'],
  ['Transfer-Encoding: cHuNkEd', 'Content-length: 3'],
];

/** Chunks with invalid sizes. */
const UNCLEAR_PIECES = [
  'g\r\n',
  '-1\r\n',
  '0x5\r\nhello\r\n',
  ' 5\r\nhello\r\n',
  '5 5\r\nhello\r\n',
  '5\nhello\n',
  '5\r\nhello',
  '5\r\nhello!\r\n',
  '5\r\nhell\r\n',
  'FFFFFFFFFFFFFFFFF\r\nx',
  '100000000000000000000\r\nx',
  '\r\n',
  '5;\0\r\nhello\r\n',
  `5;${'e'.repeat(40_000)}\r\nhello\r\n`,
  '0\r\nx\r\n\r\n',
  '0\r\nx: \0\r\n\r\n',
];

function start(
  random: Random,
  { key }: Means,
): Pick<Parameters<typeof write>[0], 'method' | 'target'> & { first: string[] } {
  const target = random.pick(['/v1/chat/completions', '/v1/messages', '/v1/models', '/', '/nowhere']);
  return { method: random.pick(['POST', 'POST', 'GET', 'PUT']), target, first: [HOST, key, JSON_TYPE] };
}

export const SMUGGLING: readonly AttackClass[] = [
  {
    name: 'bodies of two lengths, with a request inside',
    weight: 10,
    make: (random, means) => {
      const { method, target, first } = start(random, means);
      const lines = [...first, ...random.pick(UNCLEAR_LENGTHS)];
      const body = random.pick(['0\r\n\r\n', 'hello', '5\r\nhello\r\n0\r\n\r\n', '']) + hidden(means.key);
      const text = write({ method: method!, target: target!, lines, body });
      return { pieces: [bytes(text)], after: 'wait-a-while', answersMax: 3, judge: tellsBalance };
    },
  },
  {
    name: 'pieces of no size, with a request inside',
    weight: 8,
    make: (random, means) => {
      const { method, target, first } = start(random, means);
      const body = random.pick(UNCLEAR_PIECES) + hidden(means.key);
      const text = write({ method: method!, target: target!, lines: [...first, 'transfer-encoding: chunked'], body });
      return { pieces: [bytes(text)], after: 'wait-a-while', answersMax: 3, judge: tellsBalance };
    },
  },
  {
    name: 'pieces of a body, and what comes behind them',
    weight: 4,
    make: (random, { key }) => {
      const call = smallCall(random);
      const cut = random.below(call.length);
      const pieces = [call.slice(0, cut), call.slice(cut)].filter((piece) => piece !== '');
      const sized = pieces.map(
        (piece) => `${piece.length.toString(16)}${random.pick(['', ';x=y', ';'])}\r\n${piece}\r\n`,
      );
      const trailers = random.pick([
        '',
        'host: evil.example\r\n',
        'authorization: Bearer x\r\ncontent-length: 9\r\n',
        'x: y\r\n'.repeat(500),
      ]);
      const lines = [HOST, key, JSON_TYPE, 'transfer-encoding: chunked', 'connection: close'];
      const body = `${sized.join('')}0\r\n${trailers}\r\n`;
      const text = write({ method: 'POST', target: '/v1/chat/completions', lines, body });
      return { pieces: [bytes(text)], after: 'wait-a-while', answersMax: 1 };
    },
  },
];
