import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How the next commit is lost: before it reaches PostgreSQL, after PostgreSQL has answered, or then together with everything that follows. */
type Cut = 'before' | 'after' | 'after, and stay away';

/** Stands between a store and PostgreSQL, and cuts what it is told to cut. */
export interface PostgresProxy {
  readonly url: string;
  /** Cuts the next commit that comes through, or the one that is `after` commits later. */
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

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function startProxy(url: string): Promise<PostgresProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
  const proxy = new CuttingProxy(url, folder);
  await proxy.listen();
  return proxy;
}

class CuttingProxy implements PostgresProxy {
  readonly url: string;
  readonly #folder: string;
  readonly #target: string;
  readonly #pairs = new Set<Pair>();
  readonly #listener = createServer((client) => this.#accept(client));
  #next: Cut | null = null;
  #passing = 0;
  #isPlugged = true;
  attempts = 0;
  cuts = 0;

  constructor(url: string, folder: string) {
    const proxied = new URL(url);
    proxied.searchParams.set('host', folder);
    this.url = proxied.href.replaceAll('+', '%20');
    this.#folder = folder;
    this.#target = join(new URL(url).searchParams.get('host')!, '.s.PGSQL.5432');
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#listener.listen(join(this.#folder, '.s.PGSQL.5432'), resolve));
  }

  cutNextCommit(how: Cut, after = 0): void {
    this.#next = how;
    this.#passing = after;
  }

  unplug(): void {
    this.#isPlugged = false;
    this.#endAll();
  }

  plugIn(): void {
    this.#isPlugged = true;
  }

  close(): void {
    this.#listener.close();
    this.#endAll();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #accept(client: Socket): void {
    this.attempts += 1;
    if (!this.#isPlugged) {
      client.destroy();
      return;
    }
    const pair: Pair = { client, server: connect(this.#target) };
    this.#pairs.add(pair);
    const end = (): void => this.#end(pair);
    for (const socket of [client, pair.server]) socket.on('error', end).on('close', end);
    this.#pass(pair);
  }

  #pass(pair: Pair): void {
    const { client, server } = pair;
    let mode: Cut | null = null;
    client.on('data', (bytes) => {
      mode ??= this.#cutAt(bytes);
      if (mode === 'before') this.#end(pair);
      else server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (mode === null) {
        client.write(bytes);
        return;
      }
      // PostgreSQL has committed, but its answer is lost.
      if (!bytes.includes(COMMIT)) return;
      if (mode === 'after, and stay away') this.#isPlugged = false;
      this.#end(pair);
    });
  }

  /** How the commit in these bytes is cut; null if there is none, or if it may pass. */
  #cutAt(bytes: Buffer): Cut | null {
    if (this.#next === null || !bytes.includes(COMMIT) || this.#passing-- > 0) return null;
    const how = this.#next;
    this.#next = null;
    this.cuts += 1;
    return how;
  }

  #endAll(): void {
    for (const pair of this.#pairs) this.#end(pair);
  }

  #end(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  }
}
