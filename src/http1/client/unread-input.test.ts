import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/until.ts';
import { hasUnreadInput } from './unread-input.ts';

describe.skipIf(process.platform === 'win32')('unread input of a connection', () => {
  let server: Server;
  let accepted: Promise<Socket>;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  async function open(): Promise<Socket> {
    accepted = once(server, 'connection').then(([socket]) => socket as Socket);
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  test('is not found while nothing waits', async () => {
    const socket = await open();
    await accepted;
    expect(hasUnreadInput(socket)).toBe(false);
    socket.destroy();
  });

  test('is found in bytes that Node has not read, and in an end: this Node still has the private field', async () => {
    for (const send of [(peer: Socket) => peer.write('x'), (peer: Socket) => peer.end()]) {
      const socket = await open();
      const peer = await accepted;
      send(peer);
      await until(() => hasUnreadInput(socket), 'the input has arrived');
      socket.destroy();
      peer.destroy();
    }
  });
});
