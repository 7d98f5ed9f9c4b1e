import type { Carriage } from './carriage.ts';
import type { Step } from './hostile-host.ts';

const write = (bytes: Buffer | string): Step => ({ kind: 'write', bytes: Buffer.from(bytes) });
const CLOSE: Step = { kind: 'close' };
const RESET: Step = { kind: 'reset' };
const TURN: Step = { kind: 'turn' };

const lengthOf = (bytes: Buffer): string => `content-length: ${bytes.length}\r\n`;
const typeOf = (type: string): string => `content-type: ${type}\r\n`;

/** Everything that can be wrong before the first byte of a body. */
export const HEADS: readonly Carriage[] = [
  {
    name: 'another type of content',
    weight: 3,
    carry: ({ bytes }, type, random) => {
      const other = random.pick([
        'content-type: text/html\r\n',
        'content-type: text/plain; charset=utf-8\r\n',
        'content-type: application/octet-stream\r\n',
        'content-type: \r\n',
        'content-type: text\r\n',
        '',
      ]);
      const script = [write(`HTTP/1.1 200 OK\r\n${other}${lengthOf(bytes)}\r\n`), write(bytes)];
      // A complete response is valid, whatever its content type.
      return { script, verdict: type.includes('json') ? 'either' : 'broken' };
    },
  },
  {
    name: 'the type of content in other letters',
    weight: 1,
    carry: ({ bytes }, type, random) => {
      const spelled = random.pick([type.toUpperCase(), `${type}; charset=utf-8`, `${type};charset="UTF-8"; x=y`]);
      return {
        script: [write(`HTTP/1.1 200 OK\r\n${typeOf(spelled)}${lengthOf(bytes)}\r\n`), write(bytes)],
        verdict: 'whole',
      };
    },
  },
  {
    name: 'another status',
    weight: 4,
    carry: ({ bytes }, type, random) => {
      const status = random.pick([204, 300, 301, 302, 304, 307, 308, 400, 404, 418, 422, 429, 500, 503, 599, 600, 999]);
      const text = `HTTP/1.1 ${status} No\r\n${typeOf(type)}location: http://127.0.0.1:1/\r\n${lengthOf(bytes)}\r\n`;
      return { script: [write(text), write(bytes), CLOSE], verdict: 'broken' };
    },
  },
  {
    name: 'heads before the head',
    weight: 2,
    carry: ({ bytes }, type, random) => {
      const before = random.pick(['HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', 'HTTP/1.1 102 Processing\r\n\r\n']);
      const text = before.repeat(random.pick([1, 10, 1_000]));
      const own = `HTTP/1.1 200 OK\r\n${typeOf(type)}${lengthOf(bytes)}\r\n`;
      return { script: [write(text), TURN, write(own), write(bytes)], verdict: 'either' };
    },
  },
  {
    name: 'another protocol',
    weight: 2,
    carry: (_body, type, random) => {
      const said = random.pick([
        'SSH-2.0-OpenSSH_9.6\r\n',
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
        'HTTP/9.9 200 OK\r\n\r\n',
        'HTTP/1.1 200\r\n',
        'HTTP/1.1 abc OK\r\n\r\n',
        'HTTP/1.1 2000 OK\r\n\r\n',
        '\r\n\r\n\r\n',
        `${typeOf(type)}\r\n`,
        '\x00'.repeat(1_000),
        '',
      ]);
      return { script: [write(Buffer.from(said, 'latin1')), TURN, random.pick([CLOSE, RESET])], verdict: 'broken' };
    },
  },
  {
    name: 'a head too long',
    weight: 1,
    carry: ({ bytes }, type, random) => {
      const bomb = random.pick([
        `x-bomb: ${'x'.repeat(100_000)}\r\n`,
        'x-bomb: 1\r\n'.repeat(20_000),
        `${'x'.repeat(80_000)}: 1\r\n`,
        `x-bomb: ${'x'.repeat(2_000_000)}`,
      ]);
      const script = [write(`HTTP/1.1 200 OK\r\n${typeOf(type)}${bomb}${lengthOf(bytes)}\r\n`), write(bytes), CLOSE];
      return { script, verdict: 'broken' };
    },
  },
  {
    name: 'odd headers',
    weight: 3,
    carry: ({ bytes }, type, random) => {
      const odd = random.pick([
        'x-many: 1\r\n'.repeat(2_000),
        'x-nul: a\x00b\r\n',
        'x-folded: a\r\n b\r\n',
        'x-space : a\r\n',
        ': nameless\r\n',
        'no colon\r\n',
        'x-bytes: \xff\xfe\r\n',
        'set-cookie: a=b\r\nx-ratelimit-limit: 1\r\nretry-after: 99999999999\r\n',
        'x-gateway-cost-nanousd: 0\r\nx-request-id: theirs\r\n',
        'content-encoding: identity\r\ncontent-encoding: identity\r\n',
        'transfer-encoding: chunked\r\n',
        'content-length: 5\r\n',
        'content-length: -5\r\n',
        'content-length: 99999999999999999999\r\n',
        'connection: close\r\n',
        'keep-alive: timeout=-1\r\n',
        'connection: keep-alive, upgrade\r\nupgrade: h2c\r\n',
      ]);
      const text = `HTTP/1.1 200 OK\r\n${typeOf(type)}${odd}${lengthOf(bytes)}\r\n`;
      return { script: [write(Buffer.from(text, 'latin1')), write(bytes), TURN, CLOSE], verdict: 'either' };
    },
  },
];
