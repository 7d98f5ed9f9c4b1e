import { type AddressInfo, createServer } from 'node:net';
import type { CreateHttpServer, HttpServer } from '../../http1/server.ts';
import type { WorkerPool } from './worker-pool.ts';

/** The callers' port of a gateway with several workers: this thread's server, and those of the others. */
export function sharedServer(create: CreateHttpServer, pool: WorkerPool): CreateHttpServer {
  return (terms): HttpServer => {
    const own = create(terms);
    pool.answerWith(terms.answer);
    return {
      get connections() {
        return own.connections;
      },
      listen: async ({ host, port }) => {
        const free = await freePort(host, port);
        const url = await own.listen({ host, port: free, shared: true });
        await pool.listen(host, free);
        return url;
      },
      // Every worker waits for its calls by itself, within the same time.
      close: async () => void (await Promise.all([own.close(), pool.drain()])),
      cutAll: () => own.cutAll(),
    };
  };
}

/** Fails if the port is in use: another process that shares it, too, would get some of our connections. */
function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host, port }, () => {
      const { port: free } = probe.address() as AddressInfo;
      probe.close(() => resolve(free));
    });
  });
}
