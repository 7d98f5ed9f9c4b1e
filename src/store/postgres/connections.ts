import pg from 'pg';
import type { Clock, Timer } from '../../kit/clock.ts';
import { pause } from '../../kit/pause.ts';
import { LIMITS } from '../../limits.ts';
import { StoreUnavailable } from '../store.ts';
import { cancelStatement } from './cancel-statement.ts';
import { asked, asUnavailable, ConnectionLost, isCollision, isOverdue, isPoison, sqlState } from './faults.ts';
import { clientConfig, PipelinedConnection } from './pipeline.ts';

/** Runs one statement inside a transaction. */
export type RunSql = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Reads rows of two columns on a new connection, before anything else uses it. */
export type ReadFacts = (text: string) => Promise<readonly (readonly [name: string, value: bigint])[]>;
type CheckConnection = (read: ReadFacts) => Promise<void>;

/** Not as the database would by default: who waited for a lock has to see what others have written meanwhile. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/** The most that one store opens: for the ledger, for reads, for what admits calls, and for heartbeats. */
export const CONNECTIONS_MAX = LIMITS.postgresLedgerLines + LIMITS.postgresReadersMax + LIMITS.postgresAdmittersMax + 1;

interface Waiter {
  resolve(line: PipelinedConnection): void;
  reject(error: Error): void;
}

/**
 * All connections to the database: a few for the ledger, a few for what has to be read before a call is admitted, one
 * for heartbeats, and a pool for everything else, so that reads do not wait behind commits, nor calls behind reads.
 * While the database is unreachable all work is refused at once, and a single reconnect attempt runs at growing
 * intervals, so that a recovering database is not flooded.
 */
export class Connections {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #linesMax: number;
  #pool: pg.Pool;
  /** Connections for what a call needs to be admitted, so that it does not wait behind reads that a lock holds up. */
  #admission: pg.Pool;
  /** A connection for heartbeats only, so that they never wait behind other work. */
  #pulse: pg.Pool;
  readonly #idle: PipelinedConnection[] = [];
  readonly #waiting: Waiter[] = [];
  /** The numbers of the ledger's connections. */
  readonly #lines = new Set<number>();
  #check: CheckConnection = async () => undefined;
  #down: StoreUnavailable | null = null;
  #retry: Timer | null = null;
  #upWaiters: (() => void)[] = [];
  #closed = false;

  constructor(url: string, clock: Clock, linesMax: number) {
    this.#linesMax = linesMax;
    this.#url = url;
    this.#clock = clock;
    this.#pool = this.#newPool(LIMITS.postgresReadersMax, LIMITS.postgresReadMs);
    this.#admission = this.#newPool(LIMITS.postgresAdmittersMax, LIMITS.postgresReadMs);
    this.#pulse = this.#newPool(1, LIMITS.instanceSilentMs);
  }

  /** Why the database cannot be used now; null if it can. */
  get down(): StoreUnavailable | null {
    return this.#closed ? new StoreUnavailable('The store is closed.') : this.#down;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Every connection that is opened from now on is checked first. */
  checkEach(check: CheckConnection): void {
    this.#check = check;
  }

  /** Pauses briefly before the same query is sent again. */
  pause(): Promise<void> {
    return pause(this.#clock, LIMITS.postgresRetryFirstMs);
  }

  /** The result of the work, or null if it takes longer. */
  within<Result>(ms: number, work: Promise<Result>): Promise<Result | null> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(ms, () => resolve(null));
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  /** Resolves when the database answers again, or when waiting is pointless. */
  whenUp(): Promise<void> {
    if (this.#down === null || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#upWaiters.push(resolve));
  }

  /** Runs one statement in its own transaction. */
  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#withClient(this.#pool, (sql) => pastCollisions(() => sql<Row>(text, values)));
  }

  /** The same for a short statement that a call cannot be admitted without. */
  queryToAdmit<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#withClient(this.#admission, (sql) => pastCollisions(() => sql<Row>(text, values)));
  }

  /**
   * Sends a heartbeat, without parameters. The server limits its wait for locks; otherwise abandoned backends would
   * keep waiting. Several statements in one message are one transaction, which a pooler does not split and which leaves
   * nothing behind if it fails. If there is still no reply, the server is lost, not just a lock.
   */
  async pulse<Row>(text: string): Promise<Row[]> {
    const bounded = `SET LOCAL transaction_isolation = 'read committed';
      SET LOCAL lock_timeout = ${LIMITS.postgresPulseMs};
      SET LOCAL statement_timeout = ${LIMITS.postgresPulseMs}; ${text}`;
    return this.#withClient(this.#pulse, (sql) => sql<Row>(bounded));
  }

  /** Runs in one transaction. */
  transaction<Result>(run: (sql: RunSql) => Promise<Result>, begin = BEGIN): Promise<Result> {
    return this.#withClient(this.#pool, async (sql) => {
      await sql(begin);
      try {
        const result = await run(sql);
        await sql('COMMIT');
        return result;
      } catch (error) {
        if (!(error instanceof ConnectionLost)) await sql('ROLLBACK');
        throw error;
      }
    });
  }

  /** Uses one of the ledger's connections; a connection that is lost meanwhile is not reused. */
  async withLine<Result>(use: (line: PipelinedConnection) => Promise<Result>): Promise<Result> {
    const line = await this.#takeLine();
    try {
      return await use(line);
    } catch (error) {
      if (error instanceof ConnectionLost) this.#lose(error);
      throw error;
    } finally {
      this.#giveBack(line);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#retry?.cancel();
    for (const resolve of this.#upWaiters.splice(0)) resolve();
    this.#refuseWaiters(new StoreUnavailable('The store is closed.'));
    const ending = [...this.#idle.splice(0), this.#pool, this.#admission, this.#pulse].map((each) => each.end());
    // Do not wait for queries whose reply never comes.
    await this.within(LIMITS.postgresConnectMs, Promise.all(ending));
  }

  #newPool(max: number, answerMs: number): pg.Pool {
    const pool = new pg.Pool({
      ...clientConfig(this.#url),
      max,
      idleTimeoutMillis: LIMITS.postgresIdleMs,
      query_timeout: answerMs,
      onConnect: (client) => this.#check((text) => readPairs(client, text)),
    });
    // A lost connection is replaced on next use; its current user sees the failure of its own query.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  }

  async #withClient<Result>(pool: pg.Pool, use: (sql: RunSql) => Promise<Result>): Promise<Result> {
    if (this.down !== null) throw this.down;
    let client: pg.PoolClient | null = null;
    let lost: ConnectionLost | undefined;
    try {
      const own = await connected(pool);
      client = own;
      return await use(async (text, values = []) => lastRows(await asked(own.query(text, [...values]))));
    } catch (error) {
      if (error instanceof ConnectionLost && client !== null) {
        lost = error;
        if (isOverdue(error)) cancelStatement(client);
      }
      if (error instanceof ConnectionLost && this.#concernsAll(pool, error)) this.#lose(error);
      throw isPoison(error) || sqlState(error) === null ? error : asUnavailable(error);
    } finally {
      client?.release(lost);
    }
  }

  /** Not if the pool has been replaced meanwhile, or if a read got no answer, perhaps because of a lock. */
  #concernsAll(pool: pg.Pool, error: ConnectionLost): boolean {
    return !pool.ending && (pool === this.#pulse || !isOverdue(error));
  }

  async #takeLine(): Promise<PipelinedConnection> {
    if (this.down !== null) throw this.down;
    for (let line = this.#idle.pop(); line !== undefined; line = this.#idle.pop()) {
      if (!line.lost) return line;
      this.#lines.delete(line.number);
    }
    if (this.#lines.size >= this.#linesMax) {
      return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    try {
      return await this.#openLine();
    } catch (error) {
      if (error instanceof ConnectionLost) this.#lose(error);
      this.#serveWaiter();
      throw asUnavailable(error);
    }
  }

  async #openLine(): Promise<PipelinedConnection> {
    let number = 0;
    while (this.#lines.has(number)) number++;
    this.#lines.add(number);
    let line: PipelinedConnection | null = null;
    try {
      const opened = await PipelinedConnection.open(this.#url, number);
      line = opened;
      await this.#check(async (text) => (await opened.together([{ text }]))[0]!.rows);
      return opened;
    } catch (error) {
      this.#lines.delete(number);
      void line?.end();
      throw error;
    }
  }

  #giveBack(line: PipelinedConnection): void {
    if (line.lost || this.#closed || this.#down !== null) {
      this.#lines.delete(line.number);
      void line.end();
      this.#serveWaiter();
      return;
    }
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#idle.push(line);
    else waiter.resolve(line);
  }

  /** A connection ended, or was not opened, and may be replaced. */
  #serveWaiter(): void {
    const waiter = this.#waiting.shift();
    if (waiter !== undefined) this.#takeLine().then(waiter.resolve, waiter.reject);
  }

  #refuseWaiters(error: StoreUnavailable): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }

  #lose(error: ConnectionLost): void {
    if (this.#down !== null || this.#closed) return;
    this.#down = error;
    this.#refuseWaiters(this.#down);
    for (const line of this.#idle.splice(0)) {
      this.#lines.delete(line.number);
      void line.end();
    }
    for (const broken of [this.#pool, this.#admission, this.#pulse]) void broken.end().catch(() => undefined);
    this.#pool = this.#newPool(LIMITS.postgresReadersMax, LIMITS.postgresReadMs);
    this.#admission = this.#newPool(LIMITS.postgresAdmittersMax, LIMITS.postgresReadMs);
    this.#pulse = this.#newPool(1, LIMITS.instanceSilentMs);
    this.#tryLater(0);
  }

  #tryLater(attempt: number): void {
    const longest = Math.min(LIMITS.postgresRetryFirstMs * 2 ** attempt, LIMITS.postgresRetryLastMs);
    const waitMs = attempt === 0 ? 0 : longest * (0.5 + Math.random() / 2);
    this.#retry = this.#clock.after(waitMs, () => void this.#tryNow(attempt), { unref: true });
  }

  async #tryNow(attempt: number): Promise<void> {
    try {
      const line = await this.#openLine();
      if (this.#closed) return await line.end();
      this.#down = null;
      this.#giveBack(line);
      for (const resolve of this.#upWaiters.splice(0)) resolve();
    } catch (error) {
      if (this.#closed) return;
      this.#down = asUnavailable(error);
      this.#tryLater(attempt + 1);
    }
  }
}

/**
 * Sends a statement again that collided with another one, as many do if the database's default isolation is not read
 * committed. It is a transaction by itself, so it has changed nothing.
 */
async function pastCollisions<Result>(send: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!isCollision(error) || attempt >= LIMITS.postgresCollisionsMax) throw error;
    }
  }
}

/** The result of the last of several statements. */
function lastRows<Row>(answer: pg.QueryResult | pg.QueryResult[]): Row[] {
  return (Array.isArray(answer) ? answer.at(-1)! : answer).rows;
}

async function readPairs(client: pg.ClientBase, text: string): Promise<[string, bigint][]> {
  const answer = await asked(client.query<[string, bigint]>({ text, rowMode: 'array' }));
  return answer.rows;
}

/** A timeout while waiting for a pool connection does not mean that the database is unreachable. */
function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  return asked(pool.connect()).catch((error: ConnectionLost) => {
    const isQueue = pool.totalCount >= pool.options.max;
    throw isQueue ? new StoreUnavailable('Too many queries are waiting for PostgreSQL.', { cause: error }) : error;
  });
}
