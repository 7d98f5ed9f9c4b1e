import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { answerWhole, closeServers, GET, LAST, SERVERS, serve, textOf } from '../../test/http1-server.ts';
import { until } from '../../test/until.ts';
import type { Answer, OutboundResponse } from './server.ts';

/** Responses of both implementations of the seam. */

afterEach(closeServers);

describe.each(SERVERS)('a response of the %s server', (_, create) => {
  const ask = (method: string, version: string) =>
    `${method} /x HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`;

  test('of unknown length goes out in chunks, and to an older client until the end', async () => {
    const { say } = await serve(create, (_, response) => {
      response.head(200, 'x-a: 1\r\nx-b: 2\r\n', null);
      for (const chunk of ['one', '', 'zwölf']) response.write(chunk);
      response.end();
    });
    const now = await say([ask('GET', '1.1')]);
    expect(now).toMatch(/^HTTP\/1\.1 200 OK\r\nx-a: 1\r\nx-b: 2\r\n/);
    expect(now).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
    // Node 26 sends what is written within a turn as one chunk.
    const chunks = ['3\r\none\r\n6\r\nzw\xc3\xb6lf\r\n', '9\r\nonezw\xc3\xb6lf\r\n'].map((sent) => `${sent}0\r\n\r\n`);
    expect(chunks).toContain(now.slice(now.indexOf('\r\n\r\n') + 4));
    const old = await say([ask('GET', '1.0')]);
    expect(old).not.toMatch(/transfer-encoding/i);
    expect(old.endsWith('\r\n\r\nonezw\xc3\xb6lf')).toBe(true);
  });

  test('to HEAD is a head alone', async () => {
    const { say } = await serve(create);
    const answer = await say([ask('HEAD', '1.1')]);
    expect(answer).toContain('content-length: 8');
    expect(answer.endsWith('\r\n\r\n')).toBe(true);
  });

  test('that is destroyed never ends as a whole one does', async () => {
    const { dial } = await serve(create, (_, response) => {
      response.head(200, '', null);
      response.write('some');
      setImmediate(() => response.destroy());
    });
    const socket = dial();
    const text = textOf(socket);
    socket.write(GET);
    expect((await text).endsWith('0\r\n\r\n')).toBe(false);
  });

  test('can end the connection, and says so in its headers', async () => {
    const { say } = await serve(create, (_, response) => {
      response.closes = true;
      answerWhole(response, 'bye');
    });
    expect(await say([GET + GET])).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n.*bye$/is);
  });

  test.each([
    ['hangs up', (socket: Socket) => void socket.destroy()],
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ['closes its writing side', (socket: Socket) => void socket.end()],
  ])('is over as soon as its client %s', async (_, leave) => {
    let response: OutboundResponse | null = null;
    let closes = 0;
    const { dial, server } = await serve(create, (_, given) => {
      given.onClose = () => closes++;
      response = given;
    });
    const socket = dial();
    socket.write(GET);
    await until(() => response !== null, 'the request has arrived');
    leave(socket);
    await until(() => closes === 1, 'the server has noticed');
    expect(response!.destroyed).toBe(true);
    await until(() => server.connections === 0, 'the connection is gone');
    response!.head(200, '', 4);
    response!.end('late');
    expect(closes).toBe(1);
  });

  test('of text outside ASCII arrives whole at a client that reads late', async () => {
    const pieces = 60;
    const piece = '€'.repeat(40_000);
    let written = 0;
    let pendingBytes = (): number => 0;
    const { dial } = await serve(create, (_, response) => {
      const write = (): void => {
        if (written++ === pieces) response.end();
        else if (response.write(piece)) setImmediate(write);
      };
      pendingBytes = () => response.pendingBytes;
      response.onDrain = () => setImmediate(write);
      response.head(200, '', null);
      write();
    });
    const socket = dial();
    socket.pause();
    socket.write(LAST);
    await until(() => pendingBytes() > 0, 'the system takes no more');
    const text = textOf(socket);
    socket.resume();
    expect((await text).split(Buffer.from('€').toString('latin1')).length - 1).toBe(pieces * piece.length);
  });

  test('reports a client that reads too slowly, and when it has caught up', async () => {
    let drains = 0;
    let response: OutboundResponse | null = null;
    const { dial } = await serve(create, (_, given) => {
      given.onDrain = () => drains++;
      given.head(200, '', null);
      response = given;
    });
    const socket = dial();
    socket.pause();
    socket.write(GET);
    await until(() => response !== null, 'the request has arrived');
    const piece = Buffer.alloc(1024 * 1024);
    let hasRoom = true;
    for (let pieces = 0; pieces < 64 && response!.pendingBytes === 0; pieces++) hasRoom = response!.write(piece);
    expect([hasRoom, response!.pendingBytes > 0]).toEqual([false, true]);
    expect(drains).toBe(0);
    socket.resume();
    await until(() => drains === 1 && response!.pendingBytes === 0, 'the client has caught up');
  });

  test('to a client that reads slowly has no bytes of others', async () => {
    const responses: OutboundResponse[] = [];
    const { dial, say } = await serve(create, ({ url }, given) => {
      given.head(200, '', null);
      if (url === '/fast') for (let piece = 0; piece < 20; piece++) given.write('b'.repeat(1000));
      if (url === '/fast') given.end('b');
      else responses.push(given);
    });
    const socket = dial();
    const read: Buffer[] = [];
    socket.on('data', (bytes) => read.push(bytes));
    socket.pause();
    socket.write('GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await until(() => responses.length === 1, 'the request has arrived');
    const response = responses[0]!;
    let pieces = 0;
    for (; pieces < 20_000 && response.pendingBytes < 20_000; pieces++) response.write('a'.repeat(1000));
    expect(response.pendingBytes).toBeGreaterThan(10_000);
    expect(await say(['GET /fast HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'])).not.toContain('a'.repeat(9));
    response.end('a');
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
    const body = Buffer.concat(read).toString('latin1').split('\r\n\r\n')[1]!;
    expect(body.replaceAll(/[^ab]/g, '')).toBe('a'.repeat(1000 * pieces + 1));
  });

  test('to a client that reads nothing is cut', async () => {
    const large = Buffer.alloc(16 * 1024 * 1024);
    const timeouts = { requestHeadMs: 20, requestMs: 60_000, stallMs: 40 };
    const answer: Answer = (_, response) => {
      response.head(200, '', large.length);
      response.end(large);
    };
    const { dial, server } = await serve(create, answer, timeouts);
    for (const behind of ['0\r\n\r\n', 'zz\r\n']) {
      const socket = dial();
      socket.pause();
      socket.write('GET /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
      await until(() => server.connections === 1, 'it is connected');
      socket.write(behind);
      await until(() => server.connections === 0, 'it is cut');
    }
  });
});

test('a response of our own server has the second at which it was sent, also after the clock was set back', async () => {
  const [[, createOwn]] = SERVERS as [(typeof SERVERS)[number]];
  const { say } = await serve(createOwn);
  const now = vi.spyOn(Date, 'now');
  const seconds = [1_790_000_000, 1_790_000_005, 1_790_000_003];
  const dates: string[] = [];
  for (const second of seconds) {
    now.mockReturnValue(second * 1000 + 999);
    dates.push(/date: ([^\r]*)/i.exec(await say([LAST]))![1]!);
  }
  now.mockRestore();
  expect(dates).toEqual(seconds.map((second) => new Date(second * 1000).toUTCString()));
});
