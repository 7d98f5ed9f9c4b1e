import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readAccepted } from './accepted-socket.ts';

const servers: Server[] = [];
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Sends back what it reads, by whatever way `prepare` leaves to it. */
async function echo(prepare: (accepted: Socket) => void = () => {}): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, (accepted) => {
    prepare(accepted);
    const socket = readAccepted(accepted, (bytes) => void socket.write(bytes));
    socket.on('error', () => {});
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function dial(server: Server): Promise<Socket> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(client);
  await once(client, 'connect');
  return client;
}

async function ask(client: Socket, words: string): Promise<string> {
  client.write(words);
  let heard = '';
  while (heard.length < words.length) heard += String((await once(client, 'data'))[0]);
  return heard;
}

describe('reading from an accepted connection', () => {
  it('gives bytes that stay what they were, though all connections read into one buffer', async () => {
    const kept: Buffer[] = [];
    const server = createServer({ pauseOnConnect: true }, (accepted) => {
      const socket = readAccepted(accepted, (bytes) => {
        kept.push(bytes);
        socket.write('.');
      });
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const [one, two] = [await dial(server), await dial(server)];
    for (let round = 0; round < 20; round++) {
      for (const client of [one, two]) {
        client.write(`${client === one ? 'one' : 'two'} ${round}`);
        await once(client, 'data');
      }
    }
    const said = Array.from({ length: 20 }, (_, round) => [`one ${round}`, `two ${round}`]).flat();
    expect(kept.map(String)).toEqual(said);
  });

  it('lets the server close once the last connection has ended', async () => {
    const server = await echo();
    const client = await dial(server);
    await ask(client, 'hello');
    const closed = new Promise((resolve) => server.close(resolve));
    client.end();
    await closed;
    expect(server.listening).toBe(false);
  });

  it('reads in the usual way where there is no handle to be had', async () => {
    const server = await echo((accepted: Socket & { _handle?: unknown }) => {
      const { _handle: handle, resume } = accepted;
      accepted._handle = null;
      accepted.resume = () => {
        accepted._handle = handle;
        return resume.call(accepted);
      };
    });
    expect(await ask(await dial(server), 'hello')).toBe('hello');
  });
});
