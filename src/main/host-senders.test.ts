import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { ConfiguredHost } from '../hosts/host.ts';
import { Secret } from '../kit/secret.ts';
import { HostSenders } from './host-senders.ts';

type Host = Pick<ConfiguredHost, 'row' | 'proxy'>;

test.each(['own', 'node'] as const)(
  'transport %s makes no more calls to one host at once than is set',
  async (transport) => {
    let underWay = 0;
    let most = 0;
    const server = createServer(async (_request, response) => {
      most = Math.max(most, ++underWay);
      for (let turns = 0; turns < 20; turns++) await turn();
      underWay -= 1;
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const senders = new HostSenders(transport, 2);
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const call = (): Promise<void> =>
      new Promise((end, failed) => {
        const request = { origin, path: '/', headers: {}, body: Buffer.from('{}') };
        const nothing = () => undefined;
        senders.senderFor({}).send(request, { head: nothing, data: nothing, end, failed });
      });
    await Promise.all(Array.from({ length: 8 }, call));
    await senders.close();
    server.close();
    expect(most).toBe(2);
  },
);

/** A host, and a proxy that answers in place of every host. */
async function startServer() {
  const server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function hostAt(origin: string, proxyUrl?: string): Host {
  const row = { name: 'host', baseUrl: `${origin}/v1` } as ConfiguredHost['row'];
  return proxyUrl === undefined
    ? { row }
    : { row, proxy: { url: new Secret(proxyUrl), name: proxyUrl, source: 'config' } };
}

function call(senders: HostSenders, host: Host): Promise<void> {
  return new Promise((end, failed) => {
    const request = { origin: new URL(host.row.baseUrl).origin, path: '/', headers: {}, body: Buffer.from('{}') };
    const nothing = () => undefined;
    senders.senderFor(host).send(request, { head: nothing, data: nothing, end, failed });
  });
}

test.each(['own', 'node'] as const)(
  'transport %s keeps connections only to hosts that are still configured, directly or through a proxy',
  async (transport) => {
    const servers = [await startServer(), await startServer()] as const;
    const [old, kept] = servers.map(({ origin }) => origin) as [string, string];
    const senders = new HostSenders(transport, 2);
    const hosts = [hostAt(old), hostAt(kept), hostAt('http://old.example', old), hostAt('http://old.example', kept)];
    const remaining = [hosts[1]!, hostAt('http://new.example', kept)];
    for (const host of [...hosts, ...remaining]) await call(senders, host);
    await vi.waitFor(() => expect([senders.openConnections, senders.proxies]).toEqual([5, 2]));
    senders.keepOnly(remaining);
    await vi.waitFor(() => expect(senders.openConnections).toBe(2));
    senders.keepOnly(remaining);
    expect([senders.openConnections, senders.proxies]).toEqual([2, 1]);
    await senders.close();
    for (const { server } of servers) server.close();
  },
);
