import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import {
  answerWhole,
  closeServers,
  echo,
  GET,
  HEAD,
  LAST,
  LONG_TIMEOUTS,
  SERVERS,
  type Served,
  serve,
} from '../../test/http1-server.ts';
import { manyTurns, until } from '../../test/until.ts';
import { ConnectionLimit } from './connection-limit.ts';
import type { Answer, OutboundResponse } from './server.ts';

afterEach(closeServers);

describe.each(SERVERS)('with as many connections as it may have, the %s server', (_, create) => {
  /** More than the buffers of two sockets take. */
  const LARGE = 'x'.repeat(32 * 1024 * 1024);
  const HALF = `POST /half ${HEAD}content-length: 10\r\n\r\n12345`;

  async function fullServer(max: number): Promise<Served & { connections: ConnectionLimit; held: OutboundResponse[] }> {
    const connections = new ConnectionLimit(max);
    const held: OutboundResponse[] = [];
    const answer: Answer = (request, response) => {
      if (request.url === '/held') held.push(response);
      else if (request.url === '/large') answerWhole(response, LARGE);
      else if (request.url === '/pieces') answerInPieces(response);
      else echo(request, response);
    };
    return { ...(await serve(create, answer, LONG_TIMEOUTS, connections)), connections, held };
  }

  test('closes the oldest idle connection for a new one, then one whose body is unfinished', async () => {
    const { dial, connections, server, held } = await fullServer(3);
    const half = dial();
    half.write(HALF);
    await until(() => server.connections === 1, 'it is connected');
    await manyTurns();
    const answered = dial();
    answered.write(GET);
    await once(answered, 'data');
    const partial = dial();
    partial.write('GET /x HT');
    await until(() => server.connections === 3, 'all are connected');
    await manyTurns();
    for (const victim of [answered, partial, half]) {
      const closed = once(victim, 'close');
      const before = held.length;
      dial().write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n');
      await closed;
      await until(() => held.length === before + 1, 'the new one is served');
    }
    expect([connections.taken, connections.closed]).toEqual([3, 3]);
  });

  /** As a large response is sent: the next piece only when the client has read the last one. */
  function answerInPieces(response: OutboundResponse): void {
    response.head(200, '', 2 * LARGE.length);
    response.write(LARGE);
  }

  test.each(['/large', '/pieces'])('closes the one whose client reads no more of its answer to %s', async (path) => {
    const { dial, say, connections, server, held } = await fullServer(2);
    const lazy = dial();
    lazy.pause();
    lazy.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await until(() => server.connections === 1, 'it is connected');
    dial().write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => held.length === 1, 'the other one waits for its answer');
    await manyTurns();
    expect(await say([LAST])).toContain('/last');
    expect([connections.closed, held[0]!.destroyed]).toEqual([1, false]);
  });

  test('closes the new one if all others wait for their answers, which they get', async () => {
    const { dial, say, connections, held } = await fullServer(2);
    const waiting = [dial(), dial()];
    for (const socket of waiting) socket.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => held.length === 2, 'both are waiting');
    expect(await say([GET])).toBe('');
    expect(connections.closed).toBe(1);
    const first = once(waiting[0]!, 'data');
    answerWhole(held[0]!, 'late');
    expect(String((await first)[0])).toContain('late');
    expect(await say([LAST])).toContain('/last');
    answerWhole(held[1]!, 'late');
  });

  test('closes one that was refused before its body had arrived', async () => {
    const { dial, connections, server } = await fullServer(1);
    const refused = dial();
    refused.write(`POST /x HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\n12345`);
    await once(refused, 'data');
    await until(() => server.connections === 1, 'it is connected');
    const closed = once(refused, 'close');
    dial().write(GET);
    await closed;
    expect(connections.closed).toBe(1);
  });
});
