import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whoever connects to this socket is told the URL of the run's PostgreSQL, which the first one's knock starts. */
    readonly postgresDoor: string;
  }
}

/** One server for the whole run, started only if a test asks for it. */
export default function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-door-'));
  let starting: Promise<PostgresServer> | null = null;
  const door = createServer((socket) => {
    socket.on('error', () => undefined);
    starting ??= startPostgres();
    starting.then(
      (server) => socket.end(JSON.stringify({ url: server.url() })),
      (error: unknown) => socket.end(JSON.stringify({ failure: String(error) })),
    );
  });
  const socketPath = join(folder, 'door');
  door.listen(socketPath).unref();
  project.provide('postgresDoor', socketPath);
  return async () => {
    door.close();
    await starting?.then((server) => server.stop()).catch(() => undefined);
    rmSync(folder, { recursive: true });
  };
}
