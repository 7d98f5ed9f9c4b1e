import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '../limits.ts';
import { answerBrokenRequest, answerOddRequests } from './broken-request.ts';

/** How long a client may take to send a head, and a whole request. */
export interface Patience {
  readonly requestHeadMs: number;
  readonly requestMs: number;
}

/** A plain HTTP/1.1 server with every limit set; what it cannot read it refuses in our words. */
export function buildListener({ requestHeadMs, requestMs }: Patience, answer: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: LIMITS.requestHeaderBytesMax,
      headersTimeout: Math.min(requestHeadMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(LIMITS.connectionsCheckMs, requestHeadMs),
      keepAliveTimeout: LIMITS.clientKeepAliveMs,
      // Said in our own words.
      requireHostHeader: false,
    },
    answer,
  );
  // Headers beyond a count of Node's would be dropped unseen; ours refuses, and their bytes are bounded.
  server.maxHeadersCount = 0;
  server.on('clientError', answerBrokenRequest);
  answerOddRequests(server);
  return server;
}

/** Gives the address by which the server can be called from this machine. */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve(urlOf(server.address() as AddressInfo));
    });
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}

/** Takes no new connection; resolves when those that are open have ended. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
