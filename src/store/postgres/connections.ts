import pg from 'pg';
import type { Clock, Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { StoreUnavailable } from '../store.ts';
import { asked, asUnavailable, ConnectionLost, isPoison, sqlState } from './faults.ts';
import { clientConfig, PipelinedConnection } from './pipeline.ts';

/** Runs one statement inside a transaction. */
export type RunSql = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

interface Waiter {
  resolve(line: PipelinedConnection): void;
  reject(error: Error): void;
}

/**
 * Every way to the database: a few lines for the ledger, a pool for everything else, so that reading never stands behind
 * commits. Once it cannot be reached, all work is refused at once, and one attempt at a time, further and further apart,
 * finds out when it is back: a database that comes up again is not met by a storm.
 */
export class Connections {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #linesMax: number;
  #pool: pg.Pool;
  /** A connection for signs of life alone, which must not stand behind anything. */
  #pulse: pg.Pool;
  readonly #idle: PipelinedConnection[] = [];
  readonly #waiting: Waiter[] = [];
  #lines = 0;
  #down: StoreUnavailable | null = null;
  #retry: Timer | null = null;
  #upWaiters: (() => void)[] = [];
  #closed = false;

  constructor(url: string, clock: Clock, linesMax: number) {
    this.#linesMax = linesMax;
    this.#url = url;
    this.#clock = clock;
    this.#pool = this.#newPool(LIMITS.postgresReadersMax, LIMITS.postgresReadMs);
    this.#pulse = this.#newPool(1, LIMITS.instanceSilentMs);
  }

  /** Why nothing can be asked of the database now; null while it can. */
  get down(): StoreUnavailable | null {
    return this.#closed ? new StoreUnavailable('The store is closed.') : this.#down;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Lets the database be for a moment before it is asked the same again. */
  pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(LIMITS.postgresRetryFirstMs, resolve));
  }

  /** What the work comes to, or null if it takes longer. */
  within<Result>(ms: number, work: Promise<Result>): Promise<Result | null> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(ms, () => resolve(null));
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  /** Resolves when the database answers again, or when there is nothing more to wait for. */
  whenUp(): Promise<void> {
    if (this.#down === null || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#upWaiters.push(resolve));
  }

  /** One statement, for itself. */
  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#withClient(this.#pool, (sql) => sql<Row>(text, values));
  }

  /**
   * A sign of life, without values. The server bounds its wait, or the backends of those given up here would go on
   * waiting there; several statements sent as one are one transaction, which a pooler does not tear apart and which
   * leaves nothing behind if it fails. Who gets no answer in spite of that has lost the server, not a lock.
   */
  async pulse<Row>(text: string): Promise<Row[]> {
    const bounded = `SET LOCAL lock_timeout = ${LIMITS.postgresPulseMs};
      SET LOCAL statement_timeout = ${LIMITS.postgresPulseMs}; ${text}`;
    return this.#withClient(this.#pulse, (sql) => sql<Row>(bounded));
  }

  /** All or nothing. */
  transaction<Result>(run: (sql: RunSql) => Promise<Result>, begin = 'BEGIN'): Promise<Result> {
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

  /** A line for as long as it is used; a line that was lost on the way is not used again. */
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
    const ending = [...this.#idle.splice(0), this.#pool, this.#pulse].map((each) => each.end());
    // Whoever still waits for an answer that does not come is not waited for.
    await this.within(LIMITS.postgresConnectMs, Promise.all(ending));
  }

  #newPool(max: number, answerMs: number): pg.Pool {
    const pool = new pg.Pool({
      ...clientConfig(this.#url),
      max,
      idleTimeoutMillis: LIMITS.postgresIdleMs,
      query_timeout: answerMs,
    });
    // A connection that ends is replaced when next needed; who was using it hears of it by the answer that never came.
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
      if (error instanceof ConnectionLost && client !== null) lost = error;
      if (error instanceof ConnectionLost) this.#lose(error);
      throw isPoison(error) || sqlState(error) === null ? error : asUnavailable(error);
    } finally {
      client?.release(lost);
    }
  }

  async #takeLine(): Promise<PipelinedConnection> {
    if (this.down !== null) throw this.down;
    for (let line = this.#idle.pop(); line !== undefined; line = this.#idle.pop()) {
      if (!line.lost) return line;
      this.#lines--;
    }
    if (this.#lines >= this.#linesMax) {
      return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    this.#lines++;
    try {
      return await PipelinedConnection.open(this.#url);
    } catch (error) {
      this.#lines--;
      if (error instanceof ConnectionLost) this.#lose(error);
      throw asUnavailable(error);
    }
  }

  #giveBack(line: PipelinedConnection): void {
    if (line.lost || this.#closed || this.#down !== null) {
      this.#lines--;
      void line.end();
      this.#serveWaiter();
      return;
    }
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#idle.push(line);
    else waiter.resolve(line);
  }

  /** A place became free without a line to hand on. */
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
      this.#lines--;
      void line.end();
    }
    for (const broken of [this.#pool, this.#pulse]) void broken.end().catch(() => undefined);
    this.#pool = this.#newPool(LIMITS.postgresReadersMax, LIMITS.postgresReadMs);
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
      const line = await PipelinedConnection.open(this.#url);
      if (this.#closed) return await line.end();
      this.#lines++;
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

/** Of several statements in one text, what the last one gave. */
function lastRows<Row>(answer: pg.QueryResult | pg.QueryResult[]): Row[] {
  return (Array.isArray(answer) ? answer.at(-1)! : answer).rows;
}

/** To wait in vain for one of the pool's connections says nothing about the database, only that much is asked of it. */
function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  return asked(pool.connect()).catch((error: ConnectionLost) => {
    const isQueue = pool.totalCount >= pool.options.max;
    throw isQueue ? new StoreUnavailable('Too many questions wait for PostgreSQL.', { cause: error }) : error;
  });
}
