import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { CHUNKED, chunk, LAST_CHUNK, Notes } from '../../test/http1-host.ts';
import type { RequestControl } from './client.ts';
import { UndiciClient } from './undici-client.ts';

describe('UndiciClient', () => {
  let host: Server;
  let egress: UndiciClient;

  afterEach(async () => {
    await egress.close();
    host.close();
  });

  async function ask(notes: Notes, answer: (socket: Socket) => void): Promise<RequestControl> {
    const listening = await listen(answer);
    host = listening.server;
    egress = new UndiciClient();
    return egress.send({ origin: listening.origin, path: '/', headers: {}, body: Buffer.from('{}') }, notes);
  }

  it('passes on the chunks of one read together, before the end', async () => {
    const notes = new Notes();
    await ask(notes, (socket) => socket.write(CHUNKED + chunk('one ') + chunk('two ') + chunk('three') + LAST_CHUNK));
    await notes.over.promise;
    expect(notes.seen).toEqual(['head 200', 'one |two |three', 'end']);
  });

  it('passes on each read at once, without waiting for the next', async () => {
    const notes = new Notes();
    let more: () => void = () => {};
    notes.onData = () => more();
    await ask(notes, (socket) => {
      more = () => {
        more = () => {};
        socket.write(chunk('two') + LAST_CHUNK);
      };
      socket.write(CHUNKED + chunk('one'));
    });
    await notes.over.promise;
    expect(notes.seen).toEqual(['head 200', 'one', 'two', 'end']);
  });

  it('passes on what arrived before the connection broke', async () => {
    const notes = new Notes();
    await ask(notes, (socket) => socket.end(CHUNKED + chunk('one') + chunk('two')));
    await notes.over.promise;
    expect(notes.seen).toEqual(['head 200', 'one|two', 'failed: other side closed']);
  });

  it('passes on nothing after a cancel, not even the end that came with the same read', async () => {
    const notes = new Notes();
    const request = await ask(notes, (socket) => socket.write(CHUNKED + chunk('one') + chunk('two') + LAST_CHUNK));
    await new Promise<void>((resolve) => {
      notes.onData = () => {
        request.cancel();
        setImmediate(resolve);
      };
    });
    expect(notes.seen).toEqual(['head 200', 'one|two']);
  });
});

describe('UndiciClient with a limit on its origins', () => {
  it('closes the pool of an origin to make room for another, but lets its requests finish', async () => {
    let answerFirst: () => void = () => {};
    const first = await listen((socket) => {
      answerFirst = () => socket.end(`${CHUNKED}${chunk('late')}${LAST_CHUNK}`);
      reached.first();
    });
    const second = await listen((socket) => socket.write(`${CHUNKED}${chunk('soon')}${LAST_CHUNK}`));
    const reached = { first: () => {} };
    const firstReached = new Promise<void>((resolve) => {
      reached.first = resolve;
    });
    const egress = new UndiciClient({ originsMax: 1 });
    const [early, late] = [new Notes(), new Notes()];
    egress.send({ origin: first.origin, method: 'GET', path: '/', headers: {}, body: null }, early);
    await firstReached;
    egress.send({ origin: second.origin, method: 'GET', path: '/', headers: {}, body: null }, late);
    await late.over.promise;
    expect(late.seen).toEqual(['head 200', 'soon', 'end']);
    expect(egress.openConnections).toBe(2);
    answerFirst();
    await early.over.promise;
    expect(early.seen).toEqual(['head 200', 'late', 'end']);
    await egress.close();
    first.server.close();
    second.server.close();
  });
});

describe('UndiciClient behind a proxy', () => {
  it('gives the connection of a request that the proxy refused to the next, without waiting for the whole refusal', async () => {
    let answer = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 9\r\n\r\n';
    const { server, origin } = await listen((socket) => {
      socket.write(answer);
      answer = `${CHUNKED}${chunk('ok')}${LAST_CHUNK}`;
    });
    const egress = new UndiciClient({ connectionsMax: 1, proxy: { url: origin, name: 'the proxy' } });
    const [refused, waiting] = [new Notes(), new Notes()];
    const request = { origin: 'http://host.example', path: '/', headers: {}, body: Buffer.from('{}') };
    const control = egress.send(request, refused);
    egress.send(request, waiting);
    expect(egress.waiting).toBe(1);
    await waiting.over.promise;
    expect([refused.seen.length, refused.seen[0], control.unreached]).toEqual([
      1,
      'failed: Through the proxy the proxy: Proxy Authentication Required (407)',
      true,
    ]);
    expect(waiting.seen).toEqual(['head 200', 'ok', 'end']);
    await egress.close();
    server.close();
  });
});

async function listen(answer: (socket: Socket) => void): Promise<{ server: Server; origin: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
