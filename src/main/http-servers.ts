import type { Transport } from '../config/config.ts';
import { NodeHttpServer } from '../http1/node-http.ts';
import { Listener } from '../http1/server/listener.ts';
import type { CreateHttpServer } from '../http1/server.ts';

/** The HTTP server of each transport, for every port. */
export const HTTP_SERVERS: Readonly<Record<Transport, CreateHttpServer>> = {
  own: (terms) => new Listener(terms),
  node: (terms) => new NodeHttpServer(terms),
};
