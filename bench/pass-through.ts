import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { announce, readTerms } from './child.ts';

/** The least a Node proxy can do: no authentication, no reading, no money; chunks go on as they come. */
const { upstreamPort } = readTerms<{ upstreamPort: number }>();
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
server.listen(0, '127.0.0.1', () => announce({ port: (server.address() as AddressInfo).port }));
