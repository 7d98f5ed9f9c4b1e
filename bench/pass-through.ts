import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type Dispatcher, Pool } from 'undici';
import { announce, readTerms } from './child.ts';

interface PassThroughTerms {
  readonly upstreamPort: number;
  /** Threads that share the port; absent: one. */
  readonly workers?: number;
  /** The shared port, in every thread but the first. */
  readonly port?: number;
}

/** The minimum that a Node proxy can do: no authentication, no parsing, no money; chunks are passed on as they arrive. */
const terms = isMainThread ? readTerms<PassThroughTerms>() : (workerData as PassThroughTerms);
const { upstreamPort, workers = 1, port = 0 } = terms;
const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 1024, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: (_controller, status, headers) => {
        response.writeHead(status, { 'content-type': String(headers['content-type']) });
      },
      onResponseData: (_controller, chunk) => void response.write(chunk),
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    };
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const headers = { 'content-type': 'application/json' };
    pool.dispatch({ path: request.url!, method: 'POST', headers, body }, handler);
  });
});
server.keepAliveTimeout = 600_000;
server.listen({ port, host: '127.0.0.1', reusePort: workers > 1 });
await once(server, 'listening');
const own = (server.address() as AddressInfo).port;
if (isMainThread) {
  for (let at = 1; at < workers; at++) {
    const workerData: PassThroughTerms = { upstreamPort, workers, port: own };
    await once(new Worker(import.meta.filename, { workerData }), 'message');
  }
  announce({ port: own });
} else parentPort!.postMessage('listening');
