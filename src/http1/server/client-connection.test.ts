import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/until.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { answerBroken } from '../../http/broken-request.ts';
import { readRequestBody } from '../../http/request-body.ts';
import type { Answer, Patience } from './client-connection.ts';
import { Listener } from './listener.ts';
import type { Response } from './response.ts';

function listenerFor(patience: Patience, answer: Answer): Listener {
  return new Listener({ patience, answer, answerBroken });
}

/** Tells what it understood: the method, the target and the body, one line each. */
function echo(response: Response, lines: readonly string[]): void {
  const body = lines.join('\n');
  response.head(200, '', Buffer.byteLength(body));
  response.end(body);
}

let listener: Listener;
let port: number;
/** How large the pieces of the answers are; null answers in one piece of a known length. */
let chunks: readonly string[] | null = null;

beforeAll(async () => {
  listener = listenerFor({ requestHeadMs: 60_000, requestMs: 60_000, stallMs: 60_000 }, (request, response) => {
    const terms = { bytesMax: 10_000, giveLeave: () => response.giveLeave(), makeRoom: () => true };
    readRequestBody(request, terms, (body) => {
      const said = body instanceof GatewayError ? body.kind : body.toString('latin1');
      if (chunks === null) echo(response, [request.method, request.url, said]);
      else {
        response.head(200, '', null);
        for (const chunk of chunks) response.write(chunk);
        response.end();
      }
    });
  });
  port = Number(new URL(await listener.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(async () => {
  const closed = listener.close();
  listener.cutAll();
  await closed;
});

/** Sends the pieces, each in a turn of its own, and gives all that came back. */
async function say(pieces: readonly Buffer[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  const read: Buffer[] = [];
  socket.on('data', (bytes) => read.push(bytes));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (const piece of pieces) {
    if (!socket.destroyed) await new Promise<void>((sent) => socket.write(piece, () => sent()));
  }
  await closed;
  return Buffer.concat(read).toString('latin1');
}

function withoutDates(text: string): string {
  return text.replaceAll(/date: [^\r]*\r\n/g, '');
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.filter((at) => at < bytes.length))].sort((a, b) => a - b);
  return [0, ...ends].map((from, index) => bytes.subarray(from, ends[index] ?? bytes.length));
}

const HEAD = 'HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

function written({ body, isChunked }: { body: string; isChunked: boolean }, isLast: boolean): string {
  const last = isLast ? 'connection: close\r\n' : '';
  if (!isChunked) return `POST /a ${HEAD}${last}content-length: ${body.length}\r\n\r\n${body}`;
  const half = body.length >> 1;
  const pieces = [body.slice(0, half), body.slice(half)].filter((piece) => piece !== '');
  const framed = pieces.map((piece) => `${piece.length.toString(16)};x=y\r\n${piece}\r\n`).join('');
  return `POST /b ${HEAD}${last}transfer-encoding: chunked\r\n\r\n${framed}0\r\nsum: 1\r\n\r\n`;
}

test('requests mean the same however they are cut, and are answered in their order', async () => {
  const body = fc.stringMatching(/^[\x20-\x7e\r\n]{0,60}$/);
  const requests = fc.array(fc.record({ body, isChunked: fc.boolean() }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(requests, fc.array(fc.nat(700), { maxLength: 6 }), async (all, cuts) => {
      const bytes = Buffer.from(all.map((one, at) => written(one, at === all.length - 1)).join(''), 'latin1');
      const answers = await say(cut(bytes, cuts));
      const told = [...answers.matchAll(/POST\n\/[ab]\n/g)].length;
      expect(told).toBe(all.length);
      const order = all.map(({ body, isChunked }) => `POST\n/${isChunked ? 'b' : 'a'}\n${body}`);
      expect(order.reduce((at, one) => answers.indexOf(one, at) + one.length, 0)).toBeGreaterThan(0);
      expect(order.every((one) => answers.includes(one))).toBe(true);
      expect(withoutDates(answers)).toBe(withoutDates(await say([bytes])));
    }),
    { numRuns: 40 },
  );
});

test('a client that reads nothing is not waited for, whatever it broke off itself', async () => {
  const large = Buffer.alloc(16 * 1024 * 1024);
  const slow = listenerFor({ requestHeadMs: 20, requestMs: 60_000, stallMs: 40 }, (_, response) => {
    response.head(200, '', large.length);
    response.end(large);
  });
  const url = await slow.listen({ host: '127.0.0.1', port: 0 });
  for (const behind of ['0\r\n\r\n', 'zz\r\n']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    await until(() => slow.connections === 1, 'it is connected');
    socket.write(behind);
    await until(() => slow.connections === 0, 'it is cut');
    socket.destroy();
  }
  await slow.close();
});

test('a head that comes byte by byte is read as it stands, and given up at its first fault', async () => {
  const bytes = (text: string) => [...text].map((byte) => Buffer.from(byte, 'latin1'));
  const good = await say(bytes('GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'));
  expect(good.endsWith('GET\n/slow\n')).toBe(true);
  expect(await say(bytes('GET /slow HTTP/1.1\r\nhost: x\ny: z\r\n'))).toMatch(/^HTTP\/1\.1 400 /);
});

describe('an answer', () => {
  const ask = (method: string, version: string) =>
    Buffer.from(`${method} /x HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`);

  test('of unknown length goes out in chunks, and to an older client until the end', async () => {
    chunks = ['one', '', 'zwölf'];
    const now = await say([ask('GET', '1.1')]);
    expect(now).toMatch(/^HTTP\/1\.1 200 OK\r\ntransfer-encoding: chunked\r\n/);
    expect(now.slice(now.indexOf('\r\n\r\n') + 4)).toBe('3\r\none\r\n6\r\nzw\xc3\xb6lf\r\n0\r\n\r\n');
    const old = await say([ask('GET', '1.0')]);
    expect(old).not.toContain('transfer-encoding');
    expect(old.endsWith('\r\n\r\nonezw\xc3\xb6lf')).toBe(true);
    chunks = null;
  });

  test('to HEAD is a head alone', async () => {
    const answer = await say([ask('HEAD', '1.1')]);
    expect(answer).toContain('content-length: 8');
    expect(answer.endsWith('\r\n\r\n')).toBe(true);
  });
});
