import { gzipSync } from 'node:zlib';
import type { Random } from '../../test/random.ts';
import type { Body } from './bytes.ts';
import { HEADS } from './heads.ts';
import type { Script, Step } from './hostile-host.ts';
import type { Verdict } from './spoil.ts';

/** How a host sends its body over HTTP, and what that alone means for the result. */
interface Carried {
  readonly script: Script;
  readonly verdict: Verdict;
}

export interface Carriage {
  readonly name: string;
  readonly weight: number;
  carry(body: Body, contentType: string, random: Random): Carried;
}

/** Marks bytes that belong to no response; no client may ever see it. */
export const SMUGGLED = 'smuggled-into-another-answer';

const write = (bytes: Buffer | string): Step => ({ kind: 'write', bytes: Buffer.from(bytes) });
const TURN: Step = { kind: 'turn' };
const CLOSE: Step = { kind: 'close' };
const RESET: Step = { kind: 'reset' };
const HANG: Step = { kind: 'hang' };

function head(headers: Record<string, string>, status = '200 OK', version = 'HTTP/1.1'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${version} ${status}\r\n${lines.join('')}\r\n`;
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const LAST_CHUNK = '0\r\n\r\n';
const chunkedHead = (contentType: string): string =>
  head({ 'content-type': contentType, 'transfer-encoding': 'chunked' });

function pieces(bytes: Buffer, random: Random, most: number): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(random.between(1, most), Math.floor(bytes.length / 500));
    cut.push(bytes.subarray(at, at + size));
    at += size;
  }
  return cut;
}

/** An end at this byte: a normal one may be clean from the finish on, any other from the terminal frame on. */
function verdictOfEnd({ finishByte, endByte }: Body, at: number, orderly: boolean): Verdict {
  // The line ends after a frame may be missing. The frame counts if its last line is complete.
  return at < (orderly ? finishByte : endByte) - 4 ? 'broken' : 'either';
}

export const CARRIAGES: readonly Carriage[] = [
  {
    name: 'in chunks',
    weight: 30,
    carry: ({ bytes }, type, random) => ({
      script: [
        write(chunkedHead(type)),
        ...pieces(bytes, random, 2_000).map((one) => write(chunk(one))),
        write(LAST_CHUNK),
      ],
      verdict: 'whole',
    }),
  },
  {
    name: 'at its length',
    weight: 6,
    carry: ({ bytes }, type) => ({
      script: [write(head({ 'content-type': type, 'content-length': String(bytes.length) })), write(bytes)],
      verdict: 'whole',
    }),
  },
  {
    name: 'until it closes',
    weight: 6,
    carry: ({ bytes }, type, random) => ({
      script: [
        write(head({ 'content-type': type }, '200 OK', random.pick(['HTTP/1.0', 'HTTP/1.1']))),
        write(bytes),
        CLOSE,
      ],
      verdict: 'whole',
    }),
  },
  {
    name: 'drop by drop',
    weight: 3,
    carry: ({ bytes }, type, random) => {
      const drops = pieces(bytes, random, 3).flatMap((one) => [write(chunk(one)), TURN]);
      return { script: [write(chunkedHead(type)), TURN, ...drops, write(LAST_CHUNK)], verdict: 'whole' };
    },
  },
  {
    name: 'its head drop by drop',
    weight: 1,
    carry: ({ bytes }, type, random) => {
      const drops = pieces(Buffer.from(chunkedHead(type)), random, 3).flatMap((one) => [write(one), TURN]);
      return { script: [...drops, write(chunk(bytes)), write(LAST_CHUNK)], verdict: 'whole' };
    },
  },
  {
    name: 'cut off',
    weight: 8,
    carry: (body, type, random) => {
      const at = random.below(body.bytes.length + 1);
      const begun = chunk(body.bytes.subarray(0, at));
      const how = random.pick([CLOSE, RESET]);
      return {
        script: [write(chunkedHead(type)), write(begun), TURN, how],
        verdict: verdictOfEnd(body, at, false),
      };
    },
  },
  {
    name: 'closed in the middle where closing is the end',
    weight: 3,
    carry: (body, type, random) => {
      const at = random.below(body.bytes.length + 1);
      return {
        script: [write(head({ 'content-type': type, connection: 'close' })), write(body.bytes.subarray(0, at)), CLOSE],
        verdict: verdictOfEnd(body, at, true),
      };
    },
  },
  {
    name: 'a length too long',
    weight: 2,
    carry: (body, type, random) => {
      const length = String(body.bytes.length + random.pick([1, 100, 1e9]));
      return {
        script: [write(head({ 'content-type': type, 'content-length': length })), write(body.bytes), TURN, CLOSE],
        verdict: 'either',
      };
    },
  },
  {
    name: 'a length too short',
    weight: 3,
    carry: (body, type, random) => {
      const at = random.below(body.bytes.length);
      return {
        script: [write(head({ 'content-type': type, 'content-length': String(at) })), write(body.bytes), CLOSE],
        verdict: verdictOfEnd(body, at, true),
      };
    },
  },
  {
    name: 'invalid chunks',
    weight: 4,
    carry: (body, type, random) => {
      const at = random.below(body.bytes.length + 1);
      const garbage = random.pick([
        'zz\r\n',
        '-5\r\n',
        'FFFFFFFFFFFFFFFFF\r\nx',
        '\r\n\r\n',
        '5\r\nab\r\n',
        '0x5\r\nabcde\r\n',
      ]);
      const script = [
        write(chunkedHead(type)),
        write(chunk(body.bytes.subarray(0, at))),
        TURN,
        write(garbage),
        TURN,
        CLOSE,
      ];
      return { script, verdict: verdictOfEnd(body, at, false) };
    },
  },
  {
    name: 'chunks with long extensions and trailers',
    weight: 1,
    carry: ({ bytes }, type, random) => {
      const extended = `${bytes.length.toString(16)};${'x'.repeat(random.pick([10, 10_000, 200_000]))}=1\r\n`;
      const trailers = `0\r\n${'x-more: 1\r\n'.repeat(random.pick([1, 100, 20_000]))}\r\n`;
      return {
        script: [write(chunkedHead(type)), write(extended), write(bytes), write('\r\n'), write(trailers)],
        verdict: 'either',
      };
    },
  },
  {
    name: 'compressed, or said to be',
    weight: 3,
    carry: ({ bytes }, type, random) => {
      const encoding = random.pick(['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'x-unknown', 'GZIP']);
      const encoded = random.chance(0.5) ? gzipSync(bytes.subarray(0, 100_000)) : bytes;
      const headers = { 'content-type': type, 'content-encoding': encoding, 'content-length': String(encoded.length) };
      return { script: [write(head(headers)), write(encoded)], verdict: 'broken' };
    },
  },
  {
    name: 'a small file that unpacks to a large one',
    weight: 0.2,
    carry: (_body, type) => {
      const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
      const headers = { 'content-type': type, 'content-encoding': 'gzip', 'content-length': String(bomb.length) };
      return { script: [write(head(headers)), write(bomb)], verdict: 'broken' };
    },
  },
  {
    name: 'an answer behind the answer',
    weight: 3,
    carry: ({ bytes }, type) => {
      const smuggled = `data: {"choices":[{"index":0,"delta":{"content":"${SMUGGLED}"}}]}\n\n`;
      const second =
        head({ 'content-type': 'text/event-stream', 'content-length': String(smuggled.length) }) + smuggled;
      return {
        script: [write(chunkedHead(type)), write(chunk(bytes)), write(LAST_CHUNK + second), TURN, write(second)],
        verdict: 'whole',
      };
    },
  },
  ...HEADS,
];

/** Stops sending for good: only a timeout ends these. */
export const SILENCES: readonly Carriage[] = [
  { name: 'silence at once', weight: 1, carry: () => ({ script: [HANG], verdict: 'broken' }) },
  {
    name: 'silence in the head',
    weight: 1,
    carry: (_body, type, random) => {
      const text = chunkedHead(type);
      return { script: [write(text.slice(0, random.between(1, text.length - 1))), HANG], verdict: 'broken' };
    },
  },
  {
    name: 'silence after the head',
    weight: 1,
    carry: (_body, type) => ({ script: [write(chunkedHead(type)), HANG], verdict: 'broken' }),
  },
  {
    name: 'silence in the middle',
    weight: 4,
    carry: (body, type, random) => {
      const at = random.below(body.bytes.length + 1);
      const script = [write(chunkedHead(type)), write(chunk(body.bytes.subarray(0, at))), HANG];
      return { script, verdict: verdictOfEnd(body, at, false) };
    },
  },
];
