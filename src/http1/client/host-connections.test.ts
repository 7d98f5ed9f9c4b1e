import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { CHUNKED, chunk, Host, LAST_CHUNK, Notes, OK } from '../../../test/http1-host.ts';
import { until } from '../../../test/until.ts';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { RequestControl } from '../client.ts';
import type { HostExchange } from './host-connection.ts';
import { type ConnectionsOptions, HostConnections } from './host-connections.ts';

let host: Host;
let connections: HostConnections;

async function start(options: ConnectionsOptions = {}): Promise<void> {
  host = new Host();
  await host.listen();
  connections = new HostConnections(options);
}

function ask(notes: Notes): RequestControl {
  return connections.send(
    { origin: host.origin, path: '/v1/x', headers: { 'x-a': 'b' }, body: Buffer.from('{}') },
    notes,
  );
}

async function answered(): Promise<string[]> {
  const notes = new Notes();
  ask(notes);
  await notes.over.promise;
  return notes.seen;
}

afterEach(async () => {
  await connections.close();
  await host.deserted();
  host.server.close();
});

describe('one request', () => {
  it('is written in one piece, head and body', async () => {
    await start();
    expect(await answered()).toEqual(['head 200', 'ok', 'end']);
    const address = host.origin.slice('http://'.length);
    expect(host.requests).toEqual([
      `POST /v1/x HTTP/1.1\r\nhost: ${address}\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: 2\r\n\r\n{}`,
    ]);
  });

  it('fails if a header value contains a line break', async () => {
    await start();
    const headers = { 'x-a': 'b\r\nx-c: d' };
    const notes = new Notes();
    connections.send({ origin: host.origin, path: '/', headers, body: null }, notes).cancel();
    expect(notes.seen).toEqual(['failed: The header x-a has a control character in its value.']);
    expect(connections.openConnections).toBe(0);
  });

  it('keeps its bytes until its answer begins', async () => {
    await start();
    let answer = (): void => {};
    host.answer = (socket) => {
      answer = () => void socket.write(CHUNKED + chunk('one'));
    };
    const notes = new Notes();
    const exchange = ask(notes) as HostExchange;
    await until(() => host.requests.length === 1, 'it has arrived');
    expect(exchange.bytes.toString()).toBe(host.requests[0]);
    answer();
    await until(() => notes.seen.length > 0, 'the answer has begun');
    expect(exchange.bytes).toHaveLength(0);
    exchange.cancel();
  });

  it('receives the chunks of one read together, before the end', async () => {
    await start();
    host.answer = (socket) => socket.write(CHUNKED + chunk('one ') + chunk('two ') + chunk('three') + LAST_CHUNK);
    expect(await answered()).toEqual(['head 200', 'one two three', 'end']);
  });

  it('may keep its pieces while more is read, on its own connection and on others', async () => {
    await start();
    host.answer = (socket) => socket.write(CHUNKED + chunk('first'));
    const [mine, other] = [new Notes(), new Notes()];
    const kept: Buffer[] = [];
    const keep = mine.data.bind(mine);
    mine.data = (chunks) => {
      kept.push(...chunks);
      keep(chunks);
    };
    ask(mine);
    await until(() => kept.length === 1, 'the first piece has come');
    host.answer = (socket) => socket.write(CHUNKED + chunk('other') + LAST_CHUNK);
    ask(other);
    await other.over.promise;
    host.sockets[0]!.write(chunk('next') + LAST_CHUNK);
    await mine.over.promise;
    expect(kept.map(String)).toEqual(['first', 'next']);
  });

  it('receives what arrived before the connection broke', async () => {
    await start();
    host.answer = (socket) => socket.end(CHUNKED + chunk('one') + chunk('two'));
    expect(await answered()).toEqual([
      'head 200',
      'onetwo',
      'failed: The host closed the connection before its response was complete.',
    ]);
  });

  it('fails if the answer is malformed, and its connection is closed', async () => {
    await start();
    host.answer = (socket) => socket.write(`${CHUNKED}${chunk('one')}nonsense`);
    const seen = await answered();
    expect(seen.slice(0, 2)).toEqual(['head 200', 'one']);
    expect(seen[2]).toMatch(/^failed: Malformed chunk/);
    await host.deserted();
  });

  it('receives nothing more once it is cancelled, not even the end that came with the same read', async () => {
    await start();
    const notes = new Notes();
    host.answer = (socket) => socket.write(CHUNKED + chunk('one') + LAST_CHUNK);
    const request = ask(notes);
    notes.onData = () => request.cancel();
    await once(host.server, 'connection');
    await host.deserted();
    expect(notes.seen).toEqual(['head 200', 'one']);
  });

  it('reads no more of the answer while it is paused', async () => {
    await start();
    const notes = new Notes();
    const piece = 'x'.repeat(1 << 20);
    let written = 0;
    host.answer = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * piece.length}\r\n\r\n`);
      const more = (): void => {
        while (written < 64 && socket.write(piece)) written++;
        if (written++ < 64) socket.once('drain', more);
      };
      more();
    };
    const request = ask(notes);
    const paused = Promise.withResolvers<number>();
    notes.onData = () => {
      notes.onData = () => {};
      request.pause();
      const { length } = notes.seen;
      setImmediate(() => setImmediate(() => paused.resolve(notes.seen.length - length)));
    };
    expect(await paused.promise).toBe(0);
    request.resume();
    await notes.over.promise;
    expect(notes.seen.at(-1)).toBe('end');
    expect(notes.seen.slice(1, -1).join('').replaceAll('|', '').length).toBe(64 * piece.length);
  });
});

describe('a connection', () => {
  it.each([
    ['the usual time', OK, LIMITS.hostKeepAliveMs],
    [
      'the time the host gave',
      OK.replace('\r\n', '\r\nkeep-alive: timeout=5\r\n'),
      5_000 - LIMITS.hostKeepAliveMarginMs,
    ],
  ])('is not reused after %s', async (_what, text, keptMs) => {
    const clock = new ManualClock();
    await start({ clock });
    host.answer = (socket) => socket.write(text);
    await answered();
    clock.advance(keptMs - 1);
    await answered();
    expect(host.sockets.length).toBe(1);
    clock.advance(keptMs);
    await answered();
    expect(host.sockets.length).toBe(2);
  });

  it('is closed when it has been idle for too long', async () => {
    const clock = new ManualClock();
    await start({ clock });
    await answered();
    clock.advance(LIMITS.hostKeepAliveMs);
    await host.deserted();
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails its request if it cannot be opened in time', async () => {
    const clock = new ManualClock();
    await start({ clock });
    host.origin = host.origin.replace('http:', 'https:');
    host.answer = () => clock.advance(LIMITS.hostConnectMs);
    expect(await answered()).toEqual(['failed: No connection to the host within 10 seconds.']);
  });

  it('is passed to the next waiting request that was not cancelled, where no more may be opened', async () => {
    await start({ connectionsMax: 1 });
    const held = Promise.withResolvers<Socket>();
    host.answer = held.resolve;
    const [first, second, third] = [new Notes(), new Notes(), new Notes()];
    ask(first);
    ask(second).cancel();
    ask(third);
    const socket = await held.promise;
    host.answer = (again) => again.write(OK);
    socket.write(OK);
    await third.over.promise;
    expect([first.seen.at(-1), second.seen, third.seen.at(-1)]).toEqual(['end', [], 'end']);
    expect([host.sockets.length, host.requests.length]).toEqual([1, 2]);
  });

  it('is no longer waited for by a request that was cancelled, whose bytes are free then', async () => {
    await start({ connectionsMax: 1 });
    const held = Promise.withResolvers<Socket>();
    host.answer = held.resolve;
    const [first, last] = [new Notes(), new Notes()];
    ask(first);
    const [second] = [ask(new Notes()), ask(last)];
    second.cancel();
    second.cancel();
    expect(connections.waiting).toBe(1);
    const socket = await held.promise;
    host.answer = (again) => again.write(OK);
    socket.write(OK);
    await last.over.promise;
    expect([last.seen.at(-1), connections.waiting]).toEqual(['end', 0]);
  });

  it('makes room for a waiting request when it breaks', async () => {
    await start({ connectionsMax: 1 });
    host.answer = (socket) => {
      host.answer = (again) => again.write(OK);
      socket.destroy();
    };
    const [first, second] = [new Notes(), new Notes()];
    ask(first);
    ask(second);
    await second.over.promise;
    expect([first.seen[0], second.seen.at(-1)]).toEqual([expect.stringMatching(/^failed/), 'end']);
  });

  it('has its request sent again if it was reset unseen, without calling it sent twice', async () => {
    await start();
    await answered();
    // The event loop has looked at the connection since the answer, and will not look before the request is written.
    await nextTurn();
    await nextTurn();
    host.sockets[0]!.resetAndDestroy();
    const notes = new Notes();
    const control = ask(notes);
    await notes.over.promise;
    expect([notes.seen, control.sentTwice, host.requests.length]).toEqual([['head 200', 'ok', 'end'], false, 2]);
  });

  it('has a large request sent again that the host had read whole, and says so', async () => {
    await start();
    await answered();
    const body = Buffer.alloc(16 << 20);
    let read = 0;
    host.answer = (socket) => {
      read += host.requests.at(-1)!.length;
      const headBytes = host.requests[1]!.indexOf('\r\n\r\n') + 4;
      if (read < headBytes + body.length) return;
      host.answer = (again) => {
        host.answer = () => {};
        again.end(OK);
      };
      // Later, so that the last bytes are known to have left.
      void nextTurn().then(() => socket.resetAndDestroy());
    };
    const notes = new Notes();
    const control = connections.send({ origin: host.origin, path: '/', headers: {}, body }, notes);
    await notes.over.promise;
    expect([notes.seen[0], control.sentTwice, host.sockets.length]).toEqual(['head 200', true, 2]);
  });

  it('is not used again if its answer came before the whole request had left', async () => {
    await start();
    host.answer = (socket) => {
      socket.pause();
      socket.write(OK);
    };
    const notes = new Notes();
    connections.send({ origin: host.origin, path: '/', headers: {}, body: Buffer.alloc(64 << 20) }, notes);
    await notes.over.promise;
    const next = ask(new Notes());
    const hasNewConnection = next.unreached;
    next.cancel();
    host.sockets[0]!.destroy();
    expect([notes.seen.at(-1), hasNewConnection]).toEqual(['end', true]);
  });

  it('has its request sent again if it closes before the whole request has left, without calling it sent twice', async () => {
    await start();
    await answered();
    const [socket] = host.sockets;
    socket!.pause();
    const notes = new Notes();
    const body = Buffer.alloc(64 << 20);
    const control = connections.send({ origin: host.origin, path: '/', headers: {}, body }, notes);
    host.answer = (again) => {
      host.answer = () => {};
      again.end(OK);
    };
    socket!.destroy();
    await notes.over.promise;
    expect([notes.seen[0], control.sentTwice, host.sockets.length]).toEqual(['head 200', false, 2]);
  });
});
