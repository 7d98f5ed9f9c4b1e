import type { IncomingHttpHeaders } from 'node:http';
import type { buildConnector, Dispatcher, Pool, ProxyAgent } from 'undici';
import { LIMITS } from '../limits.ts';
import type { AnswerReceiver, OutgoingRequest, RequestControl, Sender } from './client.ts';
import { type KeptConnection, trackConnections } from './kept-connection.ts';
import { undici } from './load-undici.ts';
import { proxyAgent } from './proxy-agent.ts';

/** A proxy for every request of a client. */
export interface ClientProxy {
  /** It may hold a user and a password. */
  readonly url: string;
  /** The same without them, for messages. */
  readonly name: string;
}

export interface UndiciClientTerms {
  /** Opens connections; undici's own connector by default. */
  readonly connect?: buildConnector.connector;
  readonly connectionsMax?: number;
  /** How many origins may have connections at once; no limit by default. */
  readonly originsMax?: number;
  /** Sends a request again if its kept connection closed before any answer. Not for URLs of callers, who pay for both. */
  readonly resends?: boolean;
  readonly proxy?: ClientProxy;
}

/** The connections to one origin. */
type OriginPool = Pool | ProxyAgent;

/** The client seam over undici, for any number of origins. */
export class UndiciClient implements Sender {
  readonly #pools = new Map<string, OriginPool>();
  /** Pools that were replaced and still have requests in flight. */
  readonly #retired = new Set<OriginPool>();
  readonly #terms: UndiciClientTerms;
  #openConnections = 0;
  #closed = false;

  constructor(terms: UndiciClientTerms = {}) {
    this.#terms = terms;
  }

  send(request: OutgoingRequest, receiver: AnswerReceiver): RequestControl {
    const { origin, path, method = 'POST', headers, body } = request;
    let used: OriginPool | null = null;
    const dispatch = (): void => {
      used = this.#pool(origin);
      used.dispatch({ origin, path, method, headers, body }, exchange);
    };
    const resend = (): boolean => {
      if (this.#closed || this.#terms.resends !== true) return false;
      // Several stale connections fail together: only the first of them replaces the pool.
      if (this.#pools.get(origin) === used) this.#retirePool(origin);
      dispatch();
      return true;
    };
    const exchange = new UpstreamExchange(receiver, resend, this.#terms.proxy?.name ?? null);
    dispatch();
    return exchange;
  }

  /** Connections open to any host, for metrics and for tests that look for leaks. */
  get openConnections(): number {
    return this.#openConnections;
  }

  /** Origins that have connections. */
  get origins(): number {
    return this.#pools.size;
  }

  /** No origin has connections, and no request is under way. */
  get isUnused(): boolean {
    return this.#pools.size === 0 && this.#retired.size === 0;
  }

  /** Closes the connections to all other origins, each when its request has ended. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const origin of this.#pools.keys()) if (!origins.has(origin)) this.#retirePool(origin);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#pools.values(), ...this.#retired].map((pool) => pool.destroy()));
    this.#pools.clear();
  }

  #pool(origin: string): OriginPool {
    let pool = this.#pools.get(origin);
    if (pool === undefined) {
      this.#makeRoom();
      const { proxy } = this.#terms;
      pool =
        proxy === undefined ? new (undici().Pool)(origin, this.#options()) : proxyAgent(proxy.url, this.#options());
      this.#pools.set(origin, pool);
    }
    return pool;
  }

  #options(): Pool.Options {
    return {
      ...(this.#terms.connect === undefined ? {} : { connect: this.#terms.connect }),
      factory: trackConnections({
        opened: () => this.#openConnections++,
        closed: () => this.#openConnections--,
      }),
      connections: this.#terms.connectionsMax ?? LIMITS.hostConnectionsMax,
      connectTimeout: LIMITS.hostConnectMs,
      keepAliveTimeout: LIMITS.hostKeepAliveMs,
      maxHeaderSize: LIMITS.hostHeaderBytesMax,
      // The relay judges silence: it knows whether the host or the client is the slow one.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    };
  }

  /** Retires an idle pool if there is one, else the oldest. */
  #makeRoom(): void {
    if (this.#pools.size < (this.#terms.originsMax ?? Number.POSITIVE_INFINITY)) return;
    const { Pool } = undici();
    const entries = [...this.#pools];
    const [origin] = entries.find(([, pool]) => pool instanceof Pool && pool.stats.size === 0) ?? entries[0]!;
    this.#retirePool(origin);
  }

  /** The pool takes no new requests and closes once those in flight have ended; the next request opens a new one. */
  #retirePool(origin: string): void {
    const pool = this.#pools.get(origin);
    if (pool === undefined) return;
    this.#pools.delete(origin);
    this.#retired.add(pool);
    pool
      .close()
      .catch(() => {})
      .finally(() => this.#retired.delete(pool));
  }
}

/** Undici's code when a proxy answers a request in absolute form with 407. */
const PROXY_REFUSED = 'UND_ERR_INVALID_ARG';

/** One request on its way through undici, which calls the `on…` methods. */
class UpstreamExchange implements Dispatcher.DispatchHandler, RequestControl {
  readonly #receiver: AnswerReceiver;
  /** Dispatches the request again on a new connection; false if that is not done here. */
  readonly #resend: () => boolean;
  readonly #proxyName: string | null;
  #controller: Dispatcher.DispatchController | null = null;
  #connection: KeptConnection | null = null;
  /** Chunks of the current socket read; handed over together, because one by one each would cost as much as all. */
  #gathered: Buffer[] = [];
  #status = 0;
  #reused = false;
  #sent = false;
  #answerBegun = false;
  #paused = false;
  #cancelled = false;
  #over = false;
  #isProxyRefused = false;
  sentTwice = false;

  constructor(receiver: AnswerReceiver, resend: () => boolean, proxyName: string | null) {
    this.#receiver = receiver;
    this.#resend = resend;
    this.#proxyName = proxyName;
  }

  /** Undici hands the controller over once it has a connection on which to write the request. */
  get unreached(): boolean {
    return this.#controller === null || this.#isProxyRefused;
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#controller?.resume();
  }

  cancel(): void {
    if (this.#over) return;
    this.#cancelled = true;
    this.#over = true;
    this.#controller?.abort(cancelled());
  }

  /** Called with the connection that was chosen, before the request starts on it. */
  takenBy(connection: KeptConnection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#reused = this.#connection?.hasAnswered === true;
    if (this.#cancelled) controller.abort(cancelled());
    else if (this.#paused) controller.pause();
  }

  /** Undici calls this once it has handed the whole request to the socket. */
  onRequestSent(): void {
    this.#sent = true;
  }

  /** Undici calls this at the first byte of an answer. */
  onResponseStarted(): void {
    this.#answerBegun = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#answerBegun = true;
    this.#status = status;
    if (status >= 200 && !this.#over) this.#receiver.head(status, headers);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#gathered.push(chunk) === 1) process.nextTick(handOver, this);
  }

  onResponseEnd(): void {
    this.#connection?.answered(this.#status);
    this.handOver();
    if (this.#over) return;
    this.#over = true;
    this.#receiver.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.handOver();
    if (this.#over || this.#wasStale()) return;
    this.#over = true;
    const { code } = error as NodeJS.ErrnoException;
    this.#isProxyRefused = this.#proxyName !== null && code === PROXY_REFUSED;
    this.#receiver.failed(this.#proxyName === null ? error : throughProxy(error, this.#proxyName));
  }

  /** True if the request is on its way again: the host had closed the kept connection. */
  #wasStale(): boolean {
    if (!this.#reused || this.#answerBegun) return false;
    const controller = this.#controller;
    const wasSent = this.#sent;
    // Cleared first: undici may begin the second attempt before `resend` returns.
    this.#reused = false;
    this.#controller = null;
    this.#sent = false;
    const isResent = this.#resend();
    if (isResent) this.sentTwice = wasSent;
    else this.#controller = controller;
    return isResent;
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

function throughProxy(error: Error, proxyName: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  return Object.assign(new Error(`Through the proxy ${proxyName}: ${error.message}`), { code });
}

function cancelled(): Error {
  return new Error('The gateway cancelled this request.');
}
