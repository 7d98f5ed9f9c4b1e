import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import { LIMITS } from '../limits.ts';
import type { OutgoingRequest, RequestControl, ResponseReceiver, Sender } from './client.ts';
import { type Connector, type KeptConnection, trackConnections } from './kept-connection.ts';
import { undici } from './load-undici.ts';
import { type ClientProxy, proxyAgent, throughProxy } from './proxy-agent.ts';
import { type OriginPool, type OriginRequest, UndiciOrigin } from './undici-origin.ts';

interface UndiciClientTerms {
  /** Opens connections; undici's own connector by default. */
  readonly connect?: Connector;
  readonly connectionsMax?: number;
  /** How many origins may have connections at once; no limit by default. */
  readonly originsMax?: number;
  /** Sends a request again if its kept connection closed before any answer. Not for URLs of callers, who pay for both. */
  readonly resends?: boolean;
  readonly proxy?: ClientProxy;
}

/** The client seam over undici, for any number of origins. */
export class UndiciClient implements Sender {
  readonly #origins = new Map<string, UndiciOrigin>();
  /** Origins that are no longer used and still have requests. */
  readonly #retired = new Set<UndiciOrigin>();
  readonly #terms: UndiciClientTerms;
  #openConnections = 0;

  constructor(terms: UndiciClientTerms = {}) {
    this.#terms = terms;
  }

  send(request: OutgoingRequest, receiver: ResponseReceiver): RequestControl {
    const { proxy, resends = false } = this.#terms;
    const origin = this.#origin(request.origin);
    const exchange = new UpstreamExchange({ request, receiver, origin, resends, proxyName: proxy?.name ?? null });
    origin.send(exchange);
    return exchange;
  }

  /** Connections open to any host, for metrics and for tests that look for leaks. */
  get openConnections(): number {
    return this.#openConnections;
  }

  /** Requests that wait for a connection. */
  get waiting(): number {
    let waiting = 0;
    for (const origin of this.#origins.values()) waiting += origin.waiting;
    for (const origin of this.#retired) waiting += origin.waiting;
    return waiting;
  }

  /** Origins that may have connections. */
  get origins(): number {
    return this.#origins.size;
  }

  /** No origin has connections, and no request is under way. */
  get isUnused(): boolean {
    return this.#origins.size === 0 && this.#retired.size === 0;
  }

  /** Closes the connections to all other origins, each when its request has ended. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const origin of this.#origins.keys()) if (!origins.has(origin)) this.#retire(origin);
  }

  async close(): Promise<void> {
    const all = [...this.#origins.values(), ...this.#retired];
    this.#origins.clear();
    await Promise.all(all.map((origin) => origin.close()));
  }

  #origin(url: string): UndiciOrigin {
    let origin = this.#origins.get(url);
    if (origin === undefined) {
      this.#makeRoom();
      origin = this.#openOrigin(url);
      this.#origins.set(url, origin);
    }
    return origin;
  }

  #openOrigin(url: string): UndiciOrigin {
    const { proxy, connectionsMax = LIMITS.hostConnectionsMax } = this.#terms;
    const options = this.#options(connectionsMax);
    const origin = new UndiciOrigin({
      connectionsMax,
      openPool: () => (proxy === undefined ? new (undici().Pool)(url, options) : proxyAgent(proxy.url, options)),
      deserted: () => this.#retired.delete(origin),
    });
    return origin;
  }

  #options(connections: number): Pool.Options {
    return {
      ...(this.#terms.connect === undefined ? {} : { connect: this.#terms.connect }),
      factory: trackConnections({
        opened: () => this.#openConnections++,
        closed: () => this.#openConnections--,
      }),
      connections,
      connectTimeout: LIMITS.hostConnectMs,
      keepAliveTimeout: LIMITS.hostKeepAliveMs,
      maxHeaderSize: LIMITS.hostHeaderBytesMax,
      // The relay judges silence: it knows whether the host or the client is the slow one.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    };
  }

  /** Retires an idle origin if there is one, else the oldest. */
  #makeRoom(): void {
    if (this.#origins.size < (this.#terms.originsMax ?? Number.POSITIVE_INFINITY)) return;
    const entries = [...this.#origins];
    const [origin] = entries.find(([, { isIdle }]) => isIdle) ?? entries[0]!;
    this.#retire(origin);
  }

  #retire(url: string): void {
    const origin = this.#origins.get(url);
    if (origin === undefined) return;
    this.#origins.delete(url);
    this.#retired.add(origin);
    origin.retire();
  }
}

/** Undici's code when a proxy answers a request in absolute form with 407. */
const PROXY_REFUSED = 'UND_ERR_INVALID_ARG';

interface ExchangeTerms {
  readonly request: OutgoingRequest;
  readonly receiver: ResponseReceiver;
  readonly origin: UndiciOrigin;
  readonly resends: boolean;
  readonly proxyName: string | null;
}

/** One request on its way through undici, which calls the `on…` methods. */
class UpstreamExchange implements Dispatcher.DispatchHandler, OriginRequest, RequestControl {
  readonly #terms: ExchangeTerms;
  readonly #receiver: ResponseReceiver;
  readonly #proxyName: string | null;
  readonly onBehalfOf: bigint | null;
  /** Where undici has it; null while it waits and after it has ended. */
  #pool: OriginPool | null = null;
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

  constructor(terms: ExchangeTerms) {
    this.#terms = terms;
    this.#receiver = terms.receiver;
    this.#proxyName = terms.proxyName;
    this.onBehalfOf = terms.request.onBehalfOf ?? null;
  }

  dispatchOn(pool: OriginPool): void {
    const { origin, path, method = 'POST', headers, body } = this.#terms.request;
    this.#pool = pool;
    pool.dispatch({ origin, path, method, headers, body }, this);
  }

  fail(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#receiver.failed(this.#proxyName === null ? error : throughProxy(error, this.#proxyName));
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
    if (this.#controller === null) this.#giveUpConnecting();
    else this.#controller.abort(cancelled());
    this.#terms.origin.forget(this);
  }

  /** Its place stays taken until the attempt is over, so that callers who hang up cannot start any number of them. */
  #giveUpConnecting(): void {
    const pool = this.#pool;
    const { origin } = this.#terms;
    if (pool === null || this.#connection === null) return;
    // Cleared first: undici reports the end of the request before `giveUp` returns.
    this.#pool = null;
    if (!this.#connection.giveUp(cancelled(), () => origin.ended())) this.#pool = pool;
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
    this.#leavePool();
    if (this.#over) return;
    this.#over = true;
    this.#receiver.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.handOver();
    if (!this.#over && this.#wasStale()) return;
    this.#leavePool();
    if (this.#over) return;
    const { code } = error as NodeJS.ErrnoException;
    this.#isProxyRefused = this.#proxyName !== null && code === PROXY_REFUSED;
    this.fail(error);
    // Undici would go on reading the rest of the proxy's answer.
    if (this.#isProxyRefused) this.#controller?.abort(error);
  }

  /** True if the request is on its way again: the host had closed the kept connection. */
  #wasStale(): boolean {
    if (!this.#reused || this.#answerBegun || !this.#terms.resends) return false;
    const controller = this.#controller;
    const wasSent = this.#sent;
    // Cleared first: undici may begin the second attempt before `resend` returns.
    this.#reused = false;
    this.#controller = null;
    this.#sent = false;
    const isResent = this.#terms.origin.resend(this, this.#pool);
    if (isResent) this.sentTwice = wasSent;
    else this.#controller = controller;
    return isResent;
  }

  /** Undici may report an error and then the end of the same request. */
  #leavePool(): void {
    if (this.#pool === null) return;
    this.#pool = null;
    this.#terms.origin.ended();
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

function cancelled(): Error {
  return new Error('The gateway cancelled this request.');
}
