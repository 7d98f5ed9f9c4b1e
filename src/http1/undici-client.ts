import type { IncomingHttpHeaders } from 'node:http';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { LIMITS } from '../limits.ts';
import type { AnswerReceiver, OutgoingRequest, RequestControl, Sender } from './client.ts';

/** For origins that are not the operator's own rows: how they are connected to, and how many may be known at once. */
export interface UndiciClientTerms {
  readonly connect?: buildConnector.connector;
  readonly connectionsMax?: number;
  readonly originsMax?: number;
}

/** Connections for origins that callers gave, made by a connector of our own. */
export class UndiciClient implements Sender {
  readonly #pools = new Map<string, Pool>();
  /** Pools that made room for others and still end what they have under way. */
  readonly #leaving = new Set<Pool>();
  readonly #terms: UndiciClientTerms;

  constructor(terms: UndiciClientTerms = {}) {
    this.#terms = terms;
  }

  send(request: OutgoingRequest, receiver: AnswerReceiver): RequestControl {
    const exchange = new UpstreamExchange(receiver);
    const { path, method = 'POST', headers, body } = request;
    this.#pool(request.origin).dispatch({ path, method, headers, body }, exchange);
    return exchange;
  }

  /** Connections open to any host, for metrics and for tests that look for leaks. */
  get openConnections(): number {
    let open = 0;
    for (const pool of this.#pools.values()) open += pool.stats.connected;
    return open;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values(), ...this.#leaving].map((pool) => pool.destroy()));
    this.#pools.clear();
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      this.#makeRoom();
      pool = new Pool(origin, {
        ...(this.#terms.connect === undefined ? {} : { connect: this.#terms.connect }),
        connections: this.#terms.connectionsMax ?? LIMITS.hostConnectionsMax,
        connectTimeout: LIMITS.hostConnectMs,
        keepAliveTimeout: LIMITS.hostKeepAliveMs,
        maxHeaderSize: LIMITS.hostHeaderBytesMax,
        // Silence is judged by the relay, which knows whether the host or the client is the slow one.
        headersTimeout: 0,
        bodyTimeout: 0,
        allowH2: false,
      });
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  /** One that does nothing goes first, else the oldest; what it has under way it ends. */
  #makeRoom(): void {
    if (this.#pools.size < (this.#terms.originsMax ?? Number.POSITIVE_INFINITY)) return;
    const entries = [...this.#pools];
    const [origin, pool] = entries.find(([, one]) => one.stats.size === 0) ?? entries[0]!;
    this.#pools.delete(origin);
    this.#leaving.add(pool);
    pool
      .close()
      .catch(() => {})
      .finally(() => this.#leaving.delete(pool));
  }
}

class UpstreamExchange implements Dispatcher.DispatchHandler, RequestControl {
  readonly #receiver: AnswerReceiver;
  #controller: Dispatcher.DispatchController | null = null;
  /** Chunks of the read under way; handed over one by one, each would cost as much as all. */
  #gathered: Buffer[] = [];
  #cancelled = false;
  #over = false;

  constructor(receiver: AnswerReceiver) {
    this.#receiver = receiver;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  cancel(): void {
    if (this.#over) return;
    this.#cancelled = true;
    this.#over = true;
    this.#controller?.abort(new Error('The gateway cancelled this request.'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(new Error('The gateway cancelled this request.'));
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200 && !this.#over) this.#receiver.head(status, headers);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#gathered.push(chunk) === 1) process.nextTick(handOver, this);
  }

  onResponseEnd(): void {
    this.handOver();
    if (this.#over) return;
    this.#over = true;
    this.#receiver.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.handOver();
    if (this.#over) return;
    this.#over = true;
    this.#receiver.failed(error);
  }

  handOver(): void {
    const chunks = this.#gathered;
    if (this.#over || chunks.length === 0) return;
    this.#gathered = [];
    this.#receiver.data(chunks);
  }
}

function handOver(exchange: UpstreamExchange): void {
  exchange.handOver();
}
