import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers every connection with the URL of the run's PostgreSQL. The first connection starts the server. */
    readonly postgresSocket: string;
  }
}

/** One server for the whole run, started only if a test asks for it. */
export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'));
  let starting: Promise<PostgresServer> | null = null;
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    starting ??= startPostgres();
    starting.then(
      (server) => socket.end(JSON.stringify({ url: server.url() })),
      (error: unknown) => socket.end(JSON.stringify({ failure: String(error) })),
    );
  });
  const socketPath = join(folder, 'socket');
  listener.listen(socketPath).unref();
  project.provide('postgresSocket', socketPath);
  return async () => {
    listener.close();
    await starting?.then((server) => server.stop()).catch(() => undefined);
    rmSync(folder, { recursive: true });
  };
}
