import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { CHUNKED, chunk, LAST_CHUNK, Notes } from '../../test/http1-host.ts';
import { until } from '../../test/until.ts';
import type { RequestControl } from './client.ts';
import type { Connector } from './kept-connection.ts';
import { undici } from './load-undici.ts';
import { UndiciClient } from './undici-client.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

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

describe('UndiciClient while a connection opens', () => {
  it('aborts the attempt when its request is cancelled, and gives its place to the next', async () => {
    const dialled: Socket[] = [];
    const silent = createServer((socket) => void dialled.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    // Undici's own connector, but without its timeout, which would end the attempt as well.
    const connect = undici().buildConnector({ timeout: 0, allowH2: false }) as Connector;
    const egress = new UndiciClient({ connectionsMax: 1, connect });
    const [left, next] = [new Notes(), new Notes()];
    const request = { origin: originOf(silent, 'https'), path: '/', headers: {}, body: Buffer.from('{}') };
    const control = egress.send(request, left);
    egress.send(request, next);
    await until(() => dialled.length === 1, 'the first attempt');
    control.cancel();
    await once(dialled[0]!.resume(), 'close');
    await until(() => dialled.length === 2, 'the second attempt');
    expect([egress.waiting, egress.openConnections, left.seen, control.unreached]).toEqual([0, 0, [], true]);
    await egress.close();
    for (const socket of dialled) socket.destroy();
    silent.close();
  });

  it('keeps the place, but not the body, of a cancelled request whose attempt cannot be aborted', async () => {
    const { server, origin } = await listen((socket) => socket.write(`${CHUNKED}${chunk('ok')}${LAST_CHUNK}`));
    const { opening, connector } = openingByHand();
    const egress = new UndiciClient({ connectionsMax: 1, connect: connector });
    const [left, next] = [new Notes(), new Notes()];
    const body = cancelWhileOpening(egress, origin, left);
    egress.send({ origin, path: '/', headers: {}, body: Buffer.from('{}') }, next);
    await until(() => {
      collectGarbage();
      return body.deref() === undefined;
    }, 'the body to be let go');
    expect([opening.length, egress.waiting]).toEqual([1, 1]);
    const late = await connected(server);
    opening[0]!(null, late);
    expect([late.destroyed, opening.length, egress.waiting, egress.openConnections]).toEqual([true, 2, 0, 0]);
    opening[1]!(null, await connected(server));
    await next.over.promise;
    expect([left.seen, next.seen]).toEqual([[], ['head 200', 'ok', 'end']]);
    await egress.close();
    server.close();
  });

  it('leaves an origin that was retired only when the attempt of a cancelled request has failed', async () => {
    const { opening, connector } = openingByHand();
    const egress = new UndiciClient({ connect: connector });
    const notes = new Notes();
    cancelWhileOpening(egress, 'http://127.0.0.1:1', notes);
    egress.keepOnly(new Set());
    await new Promise(setImmediate);
    expect(egress.isUnused).toBe(false);
    opening[0]!(new Error('refused'), null);
    await until(() => egress.isUnused, 'no request is under way');
    expect(notes.seen).toEqual([]);
    await egress.close();
  });
});

describe('UndiciClient behind a proxy', () => {
  it('keeps the place of a request that is cancelled while the proxy opens its tunnel', async () => {
    const tunnels: Socket[] = [];
    const proxy = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => void tunnels.push(socket));
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const egress = new UndiciClient({ connectionsMax: 1, proxy: { url: originOf(proxy), name: 'the proxy' } });
    const [left, next] = [new Notes(), new Notes()];
    const request = { origin: 'https://host.example', path: '/', headers: {}, body: Buffer.from('{}') };
    const control = egress.send(request, left);
    egress.send(request, next);
    await until(() => tunnels.length === 1, 'the first tunnel');
    control.cancel();
    expect(egress.waiting).toBe(1);
    tunnels[0]!.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    await until(() => tunnels.length === 2, 'the second tunnel');
    expect([egress.waiting, left.seen]).toEqual([0, []]);
    await egress.close();
    for (const socket of tunnels) socket.destroy();
    proxy.close();
  });

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

/** A connector without a way to abort, whose attempts end when a test says so. */
function openingByHand(): { opening: Parameters<Connector>[1][]; connector: Connector } {
  const opening: Parameters<Connector>[1][] = [];
  const connector: Connector = (_target, opened) => {
    opening.push(opened);
    return undefined;
  };
  return { opening, connector };
}

function cancelWhileOpening(egress: UndiciClient, origin: string, notes: Notes): WeakRef<Buffer> {
  const body = Buffer.from('{}');
  egress.send({ origin, path: '/', headers: {}, body }, notes).cancel();
  return new WeakRef(body);
}

async function connected(server: Server): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

function originOf(server: Server, protocol = 'http'): string {
  return `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function listen(answer: (socket: Socket) => void): Promise<{ server: Server; origin: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: originOf(server) };
}
