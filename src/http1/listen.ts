import type { AddressInfo, Server } from 'node:net';

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Other servers of this process listen there too. */
  readonly shared?: boolean;
}

/** Resolves with the URL under which this machine can reach the server. */
export function listenOn(server: Server, { host, port, shared = false }: ListenAddress): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, ...(shared && { reusePort: true }) }, () => {
      server.off('error', reject);
      // A connection that could not be accepted, for want of a descriptor, is lost; the server goes on listening.
      server.on('error', () => {});
      resolve(urlOf(server.address() as AddressInfo));
    });
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}
