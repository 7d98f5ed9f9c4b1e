import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { certify } from '../../test/egress/certificate.ts';
import { CLIENTS, type Connections } from '../../test/http1-clients.ts';
import { CHUNKED, chunk, Host, LAST_CHUNK, Notes, OK } from '../../test/http1-host.ts';
import type { RequestControl } from './client.ts';

describe.each(CLIENTS)('the %s client', (_name, open) => {
  let host: Host;
  let connections: Connections;

  async function start(): Promise<void> {
    host = new Host();
    await host.listen();
    connections = open();
  }

  function ask(notes: Notes): RequestControl {
    return connections.send(
      { origin: host.origin, path: '/v1/x', headers: { 'x-a': 'b' }, body: Buffer.from('{}') },
      notes,
    );
  }

  async function answered(): Promise<string[]> {
    const { seen } = await ended();
    // Undici takes a connection for busy until the next turn of the event loop.
    await new Promise(setImmediate);
    return seen;
  }

  async function ended(): Promise<{ seen: string[]; control: RequestControl }> {
    const notes = new Notes();
    const control = ask(notes);
    await notes.over.promise;
    return { seen: notes.seen, control };
  }

  afterEach(async () => {
    await connections.close();
    await host.deserted();
    host.server.close();
  });

  describe('one request', () => {
    it('receives each read at once, without waiting for the next', async () => {
      await start();
      const notes = new Notes();
      host.answer = (socket) => {
        notes.onData = () => {
          notes.onData = () => {};
          socket.write(chunk('two') + LAST_CHUNK);
        };
        socket.write(CHUNKED + chunk('one'));
      };
      ask(notes);
      await notes.over.promise;
      expect(notes.seen).toEqual(['head 200', 'one', 'two', 'end']);
    });

    it('fails at once if nothing listens at the address', async () => {
      await start();
      host.server.close();
      expect((await answered())[0]).toMatch(/^failed: .*ECONNREFUSED/);
      expect(connections.openConnections).toBe(0);
    });
  });

  describe('a connection', () => {
    it('is reused, for one request at a time', async () => {
      await start();
      for (let call = 0; call < 3; call++) expect(await answered()).toContain('end');
      expect([host.sockets.length, host.requests.length, connections.openConnections]).toEqual([1, 3, 1]);
      await Promise.all([answered(), answered()]);
      expect([host.sockets.length, connections.openConnections]).toEqual([2, 2]);
    });

    it.each([
      ['the host says that it closes', OK.replace('\r\n', '\r\nconnection: close\r\n')],
      ['more came than the answer', `${OK}HTTP/1.1 200 OK\r\n`],
      ['the answer is an error', OK.replace('200 OK', '500 Internal Server Error')],
      ['the answer is a refusal', OK.replace('200 OK', '429 Too Many Requests')],
      ['the answer is a redirect', OK.replace('200 OK', '302 Found')],
    ])('is not reused when %s', async (_why, text) => {
      await start();
      host.answer = (socket) => socket.write(text);
      await answered();
      await answered();
      expect(host.sockets.length).toBe(2);
    });

    it('is not reused after the host sent unsolicited bytes', async () => {
      await start();
      await answered();
      host.sockets[0]!.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
      await host.deserted();
      expect(await answered()).toEqual(['head 200', 'ok', 'end']);
    });

    it('is not reused when bytes that were not asked for have come long after its answer', async () => {
      await start();
      await answered();
      for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
      host.sockets[0]!.write(OK.replace('ok', 'no'));
      for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
      expect(await answered()).toEqual(['head 200', 'ok', 'end']);
      expect(host.sockets.length).toBe(2);
    });

    it('is not reused when unread bytes wait on it', async () => {
      await start();
      await answered();
      host.sockets[0]!.write(OK.replace('ok', 'no'));
      expect(await answered()).toEqual(['head 200', 'ok', 'end']);
    });
  });

  describe('an address that is not used any more', () => {
    it('loses its idle connections, and those that are used keep theirs', async () => {
      await start();
      await answered();
      connections.keepOnly(new Set([host.origin]));
      await answered();
      expect([host.sockets.length, connections.origins]).toEqual([1, 1]);
      connections.keepOnly(new Set(['http://127.0.0.1:1']));
      await host.deserted();
      await vi.waitFor(() => expect([connections.origins, connections.openConnections]).toEqual([0, 0]));
    });

    it('answers the call that is under way, and then loses its connection', async () => {
      await start();
      const begun = Promise.withResolvers<Socket>();
      host.answer = (socket) => {
        socket.write(CHUNKED + chunk('one'));
        begun.resolve(socket);
      };
      const notes = new Notes();
      ask(notes);
      const socket = await begun.promise;
      connections.keepOnly(new Set());
      expect(connections.openConnections).toBe(1);
      socket.write(chunk('two') + LAST_CHUNK);
      await notes.over.promise;
      expect(notes.seen.at(-1)).toBe('end');
      await host.deserted();
      await vi.waitFor(() => expect([connections.origins, connections.openConnections]).toEqual([0, 0]));
    });

    it('is called again when it is used again', async () => {
      await start();
      await answered();
      connections.keepOnly(new Set());
      connections.keepOnly(new Set([host.origin]));
      await host.deserted();
      for (let call = 0; call < 2; call++) expect(await answered()).toEqual(['head 200', 'ok', 'end']);
      expect([host.sockets.length, connections.origins, connections.openConnections]).toEqual([2, 1, 1]);
    });
  });

  describe('a kept connection that closes before any answer', () => {
    /** The host answers the first request and does this with the second. */
    async function startStale(stale: Host['answer']): Promise<void> {
      await start();
      await answered();
      host.answer = stale;
    }

    it('has its request sent again on a new connection, and says so', async () => {
      await startStale((socket) => {
        host.answer = (again) => again.write(OK);
        socket.destroy();
      });
      const notes = new Notes();
      const control = ask(notes);
      await notes.over.promise;
      expect(notes.seen).toEqual(['head 200', 'ok', 'end']);
      expect([control.sentTwice, host.sockets.length, host.requests.length]).toEqual([true, 2, 3]);
      expect(host.requests[2]).toBe(host.requests[1]);
    });

    it('does not have its request sent a third time', async () => {
      await startStale((socket) => socket.destroy());
      expect((await answered())[0]).toMatch(/^failed/);
      expect([host.sockets.length, host.requests.length]).toEqual([2, 3]);
    });

    it('does not lead to a kept connection, which may be as old', async () => {
      await start();
      await Promise.all([answered(), answered()]);
      host.answer = (socket) => socket.destroy();
      await answered();
      expect([host.sockets.length, host.requests.length]).toEqual([3, 4]);
    });

    it('fails its request when a byte of the answer had come', async () => {
      await startStale((socket) => socket.end('H'));
      expect((await answered())[0]).toMatch(/^failed/);
      expect(host.requests.length).toBe(2);
    });

    it('does not have a request sent again that was cancelled', async () => {
      let control: RequestControl | null = null;
      await startStale((socket) => {
        control?.cancel();
        socket.destroy();
      });
      const notes = new Notes();
      control = ask(notes);
      await host.deserted();
      host.answer = (again) => again.write(OK);
      await answered();
      expect([notes.seen, host.requests.length]).toEqual([[], 3]);
    });

    it('does not have a request sent again when the client was closed', async () => {
      const notes = new Notes();
      await startStale(() => void connections.close());
      const control = ask(notes);
      await notes.over.promise;
      expect([notes.seen.length, host.sockets.length]).toEqual([1, 1]);
      expect(notes.seen[0]).toMatch(/^failed/);
      // The request had left whole, so the host may have run it once.
      expect([control.unreached, control.sentTwice ?? false]).toEqual([false, false]);
    });
  });

  it('fails a request whose new connection closes before any answer, and does not call the host unreached', async () => {
    await start();
    host.answer = (socket) => socket.destroy();
    const { seen, control } = await ended();
    expect(seen[0]).toMatch(/^failed/);
    expect([host.requests.length, control.unreached]).toEqual([1, false]);
  });

  it('calls a host unreached until a connection to it is ready', async () => {
    await start();
    const notes = new Notes();
    const control = ask(notes);
    expect(control.unreached).toBe(true);
    await notes.over.promise;
    expect(control.unreached).toBe(false);
  });

  it('calls a host unreached that refuses the connection', async () => {
    await start();
    host.server.close();
    const { seen, control } = await ended();
    expect(seen[0]).toMatch(/^failed: .*ECONNREFUSED/);
    expect(control.unreached).toBe(true);
  });

  describe('a host behind TLS', () => {
    const usual = getCACertificates('default');
    afterEach(() => setDefaultCACertificates(usual));

    async function startTls(name: string): Promise<string> {
      const { key, cert } = certify([name]);
      host = new Host();
      host.server = createTlsServer({ key, cert }, (socket) => host.take(socket));
      await host.listen('https', 'localhost');
      connections = open();
      return cert;
    }

    it('is called if its certificate is trusted and for its name', async () => {
      setDefaultCACertificates([...usual, await startTls('localhost')]);
      expect(await answered()).toEqual(['head 200', 'ok', 'end']);
      expect(await answered()).toEqual(['head 200', 'ok', 'end']);
      expect([host.sockets.length, host.requests.length]).toEqual([1, 2]);
    });

    it('counts as reached if it closes the connection after the handshake', async () => {
      setDefaultCACertificates([...usual, await startTls('localhost')]);
      host.answer = (socket) => socket.destroy();
      expect((await ended()).control.unreached).toBe(false);
    });

    it('counts as unreached if it closes the connection during the handshake', async () => {
      host = new Host();
      host.server = createServer((socket) => {
        host.sockets.push(socket);
        socket.on('error', () => {});
        socket.once('data', () => socket.destroy());
      });
      await host.listen('https', 'localhost');
      connections = open();
      expect((await ended()).control.unreached).toBe(true);
    });

    it('gets no byte of a request if its certificate is not trusted, and counts as unreached', async () => {
      await startTls('localhost');
      const { seen, control } = await ended();
      expect(seen[0]).toMatch(/^failed: .*self-signed/);
      expect([host.requests, control.unreached]).toEqual([[], true]);
    });

    it('gets no byte of a request if its certificate is for another name', async () => {
      setDefaultCACertificates([...usual, await startTls('other.example')]);
      const { seen, control } = await ended();
      expect(seen[0]).toMatch(/^failed: .*other\.example/s);
      expect([host.requests, control.unreached]).toEqual([[], true]);
    });
  });
});
