import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certify } from '../../test/egress/certificate.ts';
import { PUBLIC_URL } from '../../test/people.ts';

export interface PublicProxy {
  /** Makes a browser find the public address here. */
  readonly browserArguments: readonly string[];
  stop(): Promise<void>;
}

/** The proxy that ends TLS before a hosted gateway. A browser follows redirects through it, which intercepted requests do not. */
export async function startPublicProxy(gatewayUrl: string): Promise<PublicProxy> {
  const { host } = new URL(PUBLIC_URL);
  const server = createServer(certify([host]), (incoming, outgoing) => {
    const options = { method: incoming.method ?? 'GET', headers: incoming.headers };
    const passedOn = request(new URL(incoming.url ?? '/', gatewayUrl), options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passedOn.once('error', () => outgoing.destroy());
    incoming.pipe(passedOn);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    browserArguments: [`--host-resolver-rules=MAP ${host} 127.0.0.1:${port}`],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
