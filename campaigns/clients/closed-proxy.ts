import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that refuses every request. Clients use it for every address except loopback. */
export interface ClosedProxy {
  readonly env: Readonly<Record<string, string>>;
  /** The hosts that were asked for since the last call. */
  takeAsked(): string[];
  close(): void;
}

const NOT_PROXIED = '127.0.0.1,localhost';

export async function startClosedProxy(): Promise<ClosedProxy> {
  const asked = new Set<string>();
  const server = createServer((request, response) => {
    asked.add(URL.parse(request.url ?? '')?.host ?? 'unknown');
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.add(request.url?.replace(/:443$/, '') ?? 'unknown');
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: NOT_PROXIED };
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    env: { ...variables, ...Object.fromEntries(lower) },
    takeAsked() {
      const hosts = [...asked];
      asked.clear();
      return hosts;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
