import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CLIENTS, type Connections } from '../../test/http1-clients.ts';
import { Host, Notes, OK } from '../../test/http1-host.ts';
import type { RequestControl } from './client.ts';

describe.each(CLIENTS)(
  'a request of the %s client that waits because its host has as many as it may have',
  (_name, open) => {
    let host: Host;
    let connections: Connections;

    async function start(): Promise<void> {
      host = new Host();
      await host.listen();
      connections = open(1);
    }

    function ask(notes: Notes, onBehalfOf = 1n, path = '/v1/x'): RequestControl {
      return connections.send({ origin: host.origin, path, headers: {}, body: Buffer.from('{}'), onBehalfOf }, notes);
    }

    afterEach(async () => {
      await connections.close();
      await host.deserted();
      host.server.close();
    });

    /** The host has one request and answers later ones at once. */
    async function startBusy(): Promise<{ first: RequestControl; seen: Notes; socket: Socket }> {
      await start();
      const held = Promise.withResolvers<Socket>();
      host.answer = held.resolve;
      const seen = new Notes();
      const first = ask(seen);
      const socket = await held.promise;
      host.answer = (again) => again.write(OK);
      return { first, seen, socket };
    }

    it('is forgotten at once when it is cancelled, and the others keep their order', async () => {
      const { socket } = await startBusy();
      const [second, third, last] = [new Notes(), new Notes(), new Notes()];
      const controls = [ask(second), ask(third), ask(last)];
      expect([connections.waiting, ...controls.map(({ unreached }) => unreached)]).toEqual([3, true, true, true]);
      controls[1]!.cancel();
      controls[1]!.cancel();
      expect([connections.waiting, controls[1]!.unreached]).toEqual([2, true]);
      const order: string[] = [];
      void second.over.promise.then(() => order.push('second'));
      void last.over.promise.then(() => order.push('last'));
      socket.write(OK);
      await last.over.promise;
      expect([order, third.seen, connections.waiting, host.requests.length]).toEqual([['second', 'last'], [], 0, 3]);
    });

    it('takes turns with those that are sent for others, however many of one wait before it', async () => {
      const { socket } = await startBusy();
      const last = new Notes();
      const waiting = [1n, 1n, 1n, 1n, 2n, 2n, 3n].map((whom, at) => ask(new Notes(), whom, `/of-${whom}/${at}`));
      ask(last, 1n, '/of-1/last');
      waiting[2]!.cancel();
      socket.write(OK);
      await last.over.promise;
      expect(host.requests.slice(1).map((request) => request.split(' ')[1])).toEqual([
        '/of-1/0',
        '/of-2/4',
        '/of-3/6',
        '/of-1/1',
        '/of-2/5',
        '/of-1/3',
        '/of-1/last',
      ]);
    });

    it('forgets an account whose requests have all been given up', async () => {
      const { socket } = await startBusy();
      const last = new Notes();
      const [first, second] = [ask(new Notes(), 1n), ask(new Notes(), 1n)];
      ask(last, 2n, '/of-2');
      first.cancel();
      second.cancel();
      expect(connections.waiting).toBe(1);
      socket.write(OK);
      await last.over.promise;
      expect([host.requests.length, connections.waiting]).toEqual([2, 0]);
    });

    it.each([
      ['is cancelled', ({ first }: { first: RequestControl }) => first.cancel()],
      ['loses its connection', ({ socket }: { socket: Socket }) => socket.destroy()],
      ['is answered', ({ socket }: { socket: Socket }) => socket.write(OK)],
      ['is refused', ({ socket }: { socket: Socket }) => socket.write(OK.replace('200 OK', '429 Too Many Requests'))],
    ])('is sent when the one before it %s', async (_how, end) => {
      const busy = await startBusy();
      const notes = new Notes();
      ask(notes);
      end(busy);
      await notes.over.promise;
      expect([notes.seen, host.requests.length, connections.waiting]).toEqual([['head 200', 'ok', 'end'], 2, 0]);
    });

    it('is sent although its host is not used any more, and the host loses its connection then', async () => {
      const { socket } = await startBusy();
      const notes = new Notes();
      ask(notes);
      connections.keepOnly(new Set());
      expect(connections.waiting).toBe(1);
      socket.write(OK);
      await notes.over.promise;
      expect(notes.seen).toEqual(['head 200', 'ok', 'end']);
      await host.deserted();
      await vi.waitFor(() => expect([connections.origins, connections.openConnections]).toEqual([0, 0]));
    });

    it('waits until the stale connection of the one before it is replaced', async () => {
      await start();
      const before = new Notes();
      ask(before);
      await before.over.promise;
      const again = Promise.withResolvers<Socket>();
      host.answer = (socket) => {
        host.answer = again.resolve;
        socket.destroy();
      };
      const [first, second] = [new Notes(), new Notes()];
      ask(first);
      ask(second);
      const socket = await again.promise;
      expect([connections.waiting, connections.openConnections]).toEqual([1, 1]);
      host.answer = (third) => third.write(OK);
      socket.write(OK);
      await second.over.promise;
      expect([first.seen.at(-1), second.seen.at(-1), host.requests.length]).toEqual(['end', 'end', 4]);
    });

    it('fails when the client is closed', async () => {
      const { seen } = await startBusy();
      const notes = new Notes();
      const control = ask(notes);
      await connections.close();
      await seen.over.promise;
      expect([notes.seen, control.unreached]).toEqual([['failed: The gateway is stopping.'], true]);
      expect([connections.waiting, host.requests.length]).toEqual([0, 1]);
    });
  },
);
