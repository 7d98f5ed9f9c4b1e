import type { Pool, ProxyAgent } from 'undici';
import { type QueuedRequest, stopping, WaitingRequests } from './waiting-requests.ts';

/** Undici's connections to one origin. */
export type OriginPool = Pool | ProxyAgent;

/** A request to the origin. It tells when it ends. */
export interface OriginRequest extends QueuedRequest {
  dispatchOn(pool: OriginPool): void;
  fail(error: Error): void;
}

interface OriginTerms {
  readonly connectionsMax: number;
  readonly openPool: () => OriginPool;
  /** The origin was retired, and its last connection is closed. */
  readonly deserted: () => void;
}

/**
 * The requests to one origin. Undici gets only as many as there may be connections: it could not forget a request in its own
 * queue, however long ago it was cancelled.
 */
export class UndiciOrigin {
  readonly #terms: OriginTerms;
  readonly #waiting = new WaitingRequests<OriginRequest>();
  #running = 0;
  #pool: OriginPool | null = null;
  /** Pools that were replaced and still have requests in flight. */
  readonly #closing = new Set<OriginPool>();
  #isRetired = false;
  #closed = false;

  constructor(terms: OriginTerms) {
    this.#terms = terms;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0;
  }

  send(request: OriginRequest): void {
    if (this.#running < this.#terms.connectionsMax) this.#begin(request);
    else this.#waiting.add(request);
  }

  forget(request: OriginRequest): void {
    this.#waiting.forget(request);
  }

  /** A request that had a connection has ended. */
  ended(): void {
    this.#running--;
    const next = this.#waiting.next();
    if (next !== undefined) this.#begin(next);
    this.#leaveIfDeserted();
  }

  /** Dispatches a request again that failed on a stale connection of this pool; false if the client was closed. */
  resend(request: OriginRequest, failed: OriginPool | null): boolean {
    if (this.#closed) return false;
    // Several stale connections fail together: only the first of them replaces the pool.
    if (this.#pool === failed) this.#retirePool();
    this.#dispatch(request);
    return true;
  }

  /** Closes the connections, each when no request needs it any more. */
  retire(): void {
    this.#isRetired = true;
    if (this.#waiting.size === 0) this.#retirePool();
    this.#leaveIfDeserted();
  }

  /** Fails all requests. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const request of this.#waiting.takeAll()) request.fail(stopping());
    const pools = this.#pool === null ? [...this.#closing] : [this.#pool, ...this.#closing];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #begin(request: OriginRequest): void {
    this.#running++;
    this.#dispatch(request);
  }

  #dispatch(request: OriginRequest): void {
    this.#pool ??= this.#terms.openPool();
    request.dispatchOn(this.#pool);
    if (this.#isRetired && this.#waiting.size === 0) this.#retirePool();
  }

  /** The pool takes no new requests and closes once those in flight have ended; the next request opens a new one. */
  #retirePool(): void {
    const pool = this.#pool;
    if (pool === null) return;
    this.#pool = null;
    this.#closing.add(pool);
    pool
      .close()
      .catch(() => {})
      .finally(() => {
        this.#closing.delete(pool);
        this.#leaveIfDeserted();
      });
  }

  #leaveIfDeserted(): void {
    if (this.#isRetired && this.isIdle && this.#pool === null && this.#closing.size === 0) this.#terms.deserted();
  }
}
