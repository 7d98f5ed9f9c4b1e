import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How the next commit is lost: before PostgreSQL hears of it, after it has answered, or then with all that follows. */
export type Cut = 'before' | 'after' | 'after, and stay away';

/** Stands between a store and PostgreSQL, and cuts what it is told to cut. */
export interface PostgresProxy {
  readonly url: string;
  /** Cuts the next commit that comes through, or the one so many after it. */
  cutNextCommit(how: Cut, after?: number): void;
  /** Commits that were cut. */
  readonly cuts: number;
  /** Ends all connections and takes no new ones until told otherwise. */
  unplug(): void;
  plugIn(): void;
  /** Connections that were asked for, ever. */
  readonly attempts: number;
  close(): void;
}

const COMMIT = Buffer.from('COMMIT\0');

export async function startProxy(url: string): Promise<PostgresProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
  const target = join(new URL(url).searchParams.get('host')!, '.s.PGSQL.5432');
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  let next: Cut | null = null;
  let passing = 0;
  let isPlugged = true;
  let attempts = 0;
  let cuts = 0;

  const accept = (client: Socket): void => {
    attempts += 1;
    if (!isPlugged) {
      client.destroy();
      return;
    }
    const server = connect(target);
    const pair = { client, server };
    pairs.add(pair);
    let mode: Cut | null = null;
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => {
      if (mode === null && next !== null && bytes.includes(COMMIT) && passing-- === 0) {
        mode = next;
        next = null;
        cuts += 1;
        if (mode === 'before') return end();
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (mode === null) {
        client.write(bytes);
        return;
      }
      // PostgreSQL says that it has committed, and nobody hears it.
      if (!bytes.includes(COMMIT)) return;
      if (mode === 'after, and stay away') isPlugged = false;
      end();
    });
  };

  const listener = createServer(accept);
  await new Promise<void>((resolve) => listener.listen(join(folder, '.s.PGSQL.5432'), resolve));
  const proxied = new URL(url);
  proxied.searchParams.set('host', folder);
  return {
    url: proxied.href.replaceAll('+', '%20'),
    cutNextCommit: (how, after = 0) => {
      next = how;
      passing = after;
    },
    get cuts() {
      return cuts;
    },
    get attempts() {
      return attempts;
    },
    unplug: () => {
      isPlugged = false;
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
    },
    plugIn: () => {
      isPlugged = true;
    },
    close: () => {
      listener.close();
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
