import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { answerWhole, closeServers, GET, HEAD, LAST, SERVERS, serve, textOf } from '../../test/http1-server.ts';
import { manyTurns, until } from '../../test/until.ts';
import { LIMITS } from '../limits.ts';
import type { InboundRequest, OutboundResponse } from './server.ts';

/** Both implementations of the seam, held to the same behaviour. */

afterEach(closeServers);

function statusesOf(text: string): string[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status!);
}

function withoutDates(text: string): string {
  return text.replaceAll(/date: [^\r]*\r\n/gi, '');
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.filter((at) => at < bytes.length))].sort((a, b) => a - b);
  return [0, ...ends].map((from, index) => bytes.subarray(from, ends[index] ?? bytes.length));
}

function written({ body, isChunked }: { body: string; isChunked: boolean }, isLast: boolean): string {
  const last = isLast ? 'connection: close\r\n' : '';
  if (!isChunked) return `POST /a ${HEAD}${last}content-length: ${body.length}\r\n\r\n${body}`;
  const half = body.length >> 1;
  const pieces = [body.slice(0, half), body.slice(half)].filter((piece) => piece !== '');
  const framed = pieces.map((piece) => `${piece.length.toString(16)};x=y\r\n${piece}\r\n`).join('');
  return `POST /b ${HEAD}${last}transfer-encoding: chunked\r\n\r\n${framed}0\r\nsum: 1\r\n\r\n`;
}

describe.each(SERVERS)('requests to the %s server', (_, create) => {
  test('mean the same however they are split into packets, and are answered in order', async () => {
    const { say } = await serve(create);
    const body = fc.stringMatching(/^[\x20-\x7e\r\n]{0,60}$/);
    const requests = fc.array(fc.record({ body, isChunked: fc.boolean() }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(requests, fc.array(fc.nat(700), { maxLength: 6 }), async (all, cuts) => {
        const bytes = Buffer.from(all.map((one, at) => written(one, at === all.length - 1)).join(''), 'latin1');
        const answers = await say(cut(bytes, cuts));
        expect([...answers.matchAll(/POST\n\/[ab]\n/g)]).toHaveLength(all.length);
        const order = all.map(({ body, isChunked }) => answers.indexOf(`POST\n/${isChunked ? 'b' : 'a'}\n${body}`));
        expect(order).not.toContain(-1);
        expect(withoutDates(answers)).toBe(withoutDates(await say([bytes])));
      }),
      { numRuns: 40 },
    );
  });

  test('are refused at their first malformed byte, even when they arrive byte by byte', async () => {
    const { say } = await serve(create);
    const good = await say([...'GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n']);
    expect(good.endsWith('GET\n/slow\n')).toBe(true);
    expect(await say([...'GET /slow HTTP/1.1\r\nhost: x\ny: z\r\n'])).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('have headers by lower-case name, with repeated values joined', async () => {
    let seen: InboundRequest | null = null;
    const { say } = await serve(create, (request, response) => {
      seen = request;
      answerWhole(response, '');
    });
    await say([
      'GET /x?y HTTP/1.1\r\nHost: x\r\nX-A: 1\r\ncookie: a\r\nCookie: b\r\nx-a: 2\r\nconnection: close\r\n\r\n',
    ]);
    expect(seen).toMatchObject({
      method: 'GET',
      url: '/x?y',
      httpVersionMajor: 1,
      httpVersionMinor: 1,
      complete: true,
    });
    expect({ ...seen!.headers }).toEqual({ host: 'x', 'x-a': '1, 2', cookie: 'a, b', connection: 'close' });
    expect(seen!.rawHeaders.slice(0, 4)).toEqual(['Host', 'x', 'X-A', '1']);
  });

  test('with a malformed body get a 400, and their reader learns that it failed', async () => {
    let handled = 0;
    let pieces = 0;
    let failures = 0;
    const { dial, say } = await serve(create, (request) => {
      handled++;
      request.read({ data: () => pieces++, end: () => {}, failed: () => failures++ });
    });
    const begun = `POST /x ${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`;
    const socket = dial();
    const text = textOf(socket);
    socket.write(begun);
    await until(() => pieces === 1, 'its beginning is read');
    socket.write('zz\r\n');
    expect([statusesOf(await text), failures]).toEqual([['400'], 1]);
    // Malformed within one read: the request is never handed on.
    expect([statusesOf(await say([`${begun}zz\r\n`])), handled]).toEqual([['400'], 1]);
  });

  test('behind a malformed one are not answered, and those before it are', async () => {
    const { say } = await serve(create);
    expect(statusesOf(await say([`${GET}${GET}no request\r\n\r\n${LAST}`]))).toEqual(['200', '200']);
    expect(statusesOf(await say([`no request\r\n\r\n${LAST}`]))).toEqual(['400']);
  });

  test('begin only when the one before is answered', async () => {
    const begun: OutboundResponse[] = [];
    const { say } = await serve(create, (_, response) => void begun.push(response));
    const text = say([GET + GET + LAST]);
    for (let at = 0; at < 3; at++) {
      await until(() => begun.length === at + 1, 'the next one is begun');
      await manyTurns();
      expect(begun).toHaveLength(at + 1);
      answerWhole(begun[at]!, 'done');
    }
    expect(statusesOf(await text)).toEqual(['200', '200', '200']);
  });

  test('sent far ahead are not read until their turn comes', async () => {
    const begun: OutboundResponse[] = [];
    const { dial } = await serve(create, (_, response) => void begun.push(response));
    const socket = dial();
    const kilobyte = GET.replace('\r\n\r\n', `\r\nx: ${'y'.repeat(1000)}\r\n\r\n`);
    socket.write(kilobyte.repeat(16 * 1024));
    await until(() => begun.length === 1, 'the first one is begun');
    await manyTurns();
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(begun).toHaveLength(1);
  });

  test('for a tunnel are refused', async () => {
    const { say } = await serve(create);
    expect(statusesOf(await say(['CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\n\r\n']))).toEqual(['405']);
  });

  test('answered before their body has arrived leave the connection usable', async () => {
    const { say } = await serve(create, (_, response) => answerWhole(response, ''));
    const body = 'x'.repeat(100_000);
    const head = `POST /x ${HEAD}content-length: ${body.length}\r\n\r\n`;
    expect(statusesOf(await say([head, body.slice(0, 10), body.slice(10), LAST]))).toEqual(['200', '200']);
  });

  test('answered before their body has arrived do not become another request, also behind one that is answered at its last byte', async () => {
    const { dial } = await serve(create, (request, response) => {
      const end = (): void => answerWhole(response, request.url);
      if (request.url === '/read') request.read({ data: () => {}, end, failed: () => {} });
      else end();
    });
    const socket = dial();
    const text = textOf(socket);
    socket.write(`POST /read ${HEAD}content-length: 2\r\n\r\n1`);
    await manyTurns();
    socket.write(`2POST /early ${HEAD}content-length: ${GET.length + 1}\r\n\r\n1`);
    await manyTurns();
    socket.write(GET + LAST);
    expect((await text).match(/\/[a-z]+(?=HTTP|$)/g)).toEqual(['/read', '/early', '/last']);
  });

  test('with an unread body beyond the limit lose the connection', async () => {
    const { dial, server } = await serve(create, (_, response) => answerWhole(response, ''));
    const socket = dial();
    const piece = Buffer.alloc(1024 * 1024);
    socket.write(`POST /x ${HEAD}content-length: ${2 * LIMITS.forgottenBodyBytesMax}\r\n\r\n`);
    await once(socket, 'data');
    let sent = 0;
    for (; sent < (3 / 2) * LIMITS.forgottenBodyBytesMax && !socket.destroyed; sent += piece.length) {
      await new Promise<void>((written) => socket.write(piece, () => written()));
    }
    await until(() => server.connections === 0, 'the connection is cut');
    expect(sent).toBeLessThan((3 / 2) * LIMITS.forgottenBodyBytesMax);
  });
});

describe.each(SERVERS)('a body that the %s server receives', (_, create) => {
  test('stops to arrive while its reader pauses, and arrives whole afterwards', async () => {
    let request: InboundRequest | null = null;
    let bytes = 0;
    let hasEnded = false;
    const { dial } = await serve(create, (given, response) => {
      const data = (piece: Buffer): void => {
        bytes += piece.length;
        if (request === null) given.pause();
        request = given;
      };
      const end = (): void => {
        hasEnded = true;
        answerWhole(response, 'read');
      };
      given.read({ data, end, failed: () => {} });
    });
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    const socket = dial();
    const text = textOf(socket);
    socket.write(`POST /x ${HEAD}connection: close\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
    await until(() => request !== null, 'the body begins to arrive');
    await manyTurns();
    expect(bytes).toBeLessThan(1024 * 1024);
    request!.resume();
    expect((await text).endsWith('read')).toBe(true);
    expect([hasEnded, bytes]).toEqual([true, body.length]);
  });

  test('can be dropped by another reader after a pause', async () => {
    const { say } = await serve(create, (request, response) => {
      request.read({ data: () => request.pause(), end: () => {}, failed: () => {} });
      setImmediate(() =>
        setImmediate(() =>
          request.read({ data: () => {}, end: () => answerWhole(response, 'dropped'), failed: () => {} }),
        ),
      );
    });
    const body = 'x'.repeat(1024 * 1024);
    const head = `POST /x ${HEAD}connection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
    expect((await say([head, body])).endsWith('dropped')).toBe(true);
  });
});

describe.each(SERVERS)('closing the %s server', (_, create) => {
  test('ends idle connections and those that never sent anything', async () => {
    const { dial, server } = await serve(create);
    const [idle, silent] = [dial(), dial()];
    idle.write(GET);
    await once(idle, 'data');
    await until(() => server.connections === 2, 'both are connected');
    await manyTurns();
    await server.close();
    await until(() => server.connections === 0, 'both have ended');
    silent.destroy();
  });

  test('lets a running response finish', async () => {
    let response: OutboundResponse | null = null;
    const { say, server } = await serve(create, (_, given) => {
      response = given;
    });
    const text = say([LAST]);
    await until(() => response !== null, 'the request has arrived');
    const closed = server.close();
    answerWhole(response!, 'whole');
    expect((await text).endsWith('whole')).toBe(true);
    await closed;
  });
});
