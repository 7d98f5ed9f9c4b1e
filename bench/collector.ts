import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './child.ts';

/** Accepts traces over OTLP/HTTP and discards them. */
export interface CollectorHello {
  readonly port: number;
}

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
server.listen(0, '127.0.0.1', () =>
  announce({ port: (server.address() as AddressInfo).port } satisfies CollectorHello),
);
process.once('SIGTERM', () => process.exit());
