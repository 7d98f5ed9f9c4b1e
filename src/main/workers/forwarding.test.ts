import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callRaw, openRaw, readRaw, sendRaw } from '../../../test/raw-client.ts';
import { until } from '../../../test/until.ts';
import { ConnectionLimit } from '../../http1/connection-limit.ts';
import type { Answer, HttpServer, InboundRequest, OutboundResponse } from '../../http1/server.ts';
import { HTTP_SERVERS } from '../http-servers.ts';
import { answerForwarded } from './answer-forwarded.ts';
import { Forwarder } from './forward-request.ts';

const TIMEOUTS = { requestHeadMs: 30_000, requestMs: 120_000, stallMs: 30_000 };
const LARGE = 3 * 1024 * 1024;

describe.each(['own', 'node'] as const)(
  'a request that is forwarded from a server of the %s transport',
  (transport) => {
    let channel: MessageChannel;
    let server: HttpServer;
    let url: string;
    let answer: Answer;

    beforeEach(async () => {
      channel = new MessageChannel();
      const forwarder = new Forwarder(channel.port1);
      answerForwarded(channel.port2, (request, response) => answer(request, response));
      server = HTTP_SERVERS[transport]({
        timeouts: TIMEOUTS,
        connections: new ConnectionLimit(10),
        answer: (request, response) => forwarder.forward(request, response),
        answerBroken: () => '',
      });
      url = await server.listen({ host: '127.0.0.1', port: 0 });
    });
    afterEach(async () => {
      const closed = server.close();
      server.cutAll();
      await closed;
      channel.port1.close();
    });

    test('arrives with its head and body, and its response with its head and body', async () => {
      answer = (request, response) => {
        const whole = request.takeWhole();
        const said = JSON.stringify([
          request.method,
          request.url,
          request.headers['x-one'],
          String(whole),
          request.complete,
        ]);
        response.addLines('x-two: 2\r\n');
        response.head(201, 'x-three: 3\r\n', Buffer.byteLength(said));
        response.end(said);
      };
      const { status, headers, text } = await callRaw(`${url}/a?b=c`, { d: 1 }, { headers: { 'x-one': '1' } });
      expect([status, headers['x-two'], headers['x-three']]).toEqual([201, '2', '3']);
      expect(JSON.parse(text)).toEqual(['POST', '/a?b=c', '1', '{"d":1}', true]);
    });

    test('may have a large body and a large response, of which neither side takes more than it can', async () => {
      answer = echo;
      const body = JSON.stringify('x'.repeat(LARGE));
      const { text, ended } = await callRaw(url, body, { chunked: true });
      expect([text === body, ended]).toEqual([true, 'complete']);
    });

    test('waits with a response for a client that does not read', async () => {
      let sent = 0;
      let isFull = false;
      answer = (_request, response) => {
        response.head(200, '', null);
        const write = (): void => {
          while (!isFull && sent < 64 * LARGE) {
            isFull = !response.write(Buffer.alloc(65_536));
            sent += 65_536;
          }
        };
        response.onDrain = () => {
          isFull = false;
          write();
        };
        response.onClose = () => undefined;
        write();
      };
      const response = await openRaw(url, {});
      response.pause();
      await until(() => isFull, 'the client has as much as it takes');
      expect(sent).toBeLessThan(64 * LARGE);
      response.destroy();
    });

    test('is over when its client is gone', async () => {
      let opened: OutboundResponse | null = null;
      let isClosed = false;
      answer = (_request, response) => {
        opened = response;
        response.onClose = () => {
          isClosed = true;
        };
      };
      const sent = sendRaw(url, {});
      await until(() => opened !== null, 'the request has arrived');
      sent.destroy();
      await until(() => isClosed, 'the response is closed');
      expect(opened!.destroyed).toBe(true);
    });

    test('is told that its body broke off', async () => {
      let outcome = '';
      answer = (request) => {
        request.read({ data: () => {}, end: () => (outcome = 'ended'), failed: () => (outcome = 'failed') });
      };
      const sent = sendRaw(url, undefined, { headers: { 'content-length': '100' } });
      await until(() => server.connections > 0, 'it is connected');
      sent.on('error', () => {});
      await until(() => sent.writableFinished, 'the head is sent');
      sent.destroy();
      await until(() => outcome !== '', 'the reader is told');
      expect(outcome).toBe('failed');
    });

    test('that destroys its response breaks the connection', async () => {
      answer = (_request, response) => {
        response.head(200, '', null);
        response.write('partial');
        response.destroy();
      };
      const { ended } = await openRaw(url, {}).then(readRaw, () => ({ ended: 'cut' }));
      expect(ended).toBe('cut');
    });
  },
);

/** Sends the body back piece by piece, and reads on only while the client takes it. */
function echo(request: InboundRequest, response: OutboundResponse): void {
  response.head(200, '', null);
  response.onDrain = () => request.resume();
  request.read({
    data: (piece) => {
      if (!response.write(piece)) request.pause();
    },
    end: () => response.end(),
    failed: () => response.destroy(),
  });
}
