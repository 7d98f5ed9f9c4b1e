import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Clock, Timer } from '../../kit/clock.ts';
import { LoopTurns } from '../../kit/loop-turns.ts';
import { LIMITS } from '../../limits.ts';
import type { RequestControl, ResponseReceiver } from '../client.ts';
import { sharedReads } from '../shared-reads.ts';
import type { QueuedRequest, WaitingRequests } from '../waiting-requests.ts';
import { KnownHead } from './known-head.ts';
import { Http1Response } from './response.ts';
import { hasUnreadInput } from './unread-input.ts';

const TURNS = new LoopTurns();
const NOTHING = Buffer.alloc(0);

/** What a connection needs from its pool, and reports to it. */
export interface ConnectionTerms {
  readonly url: URL;
  readonly clock: Clock;
  /** The host's latest TLS session, which makes the next handshake shorter. */
  session: Buffer | undefined;
  /** The connection can take the next request. */
  free(connection: HostConnection): void;
  gone(connection: HostConnection): void;
  /** This connection is gone; its request may be sent once more, on a new one. */
  resend(connection: HostConnection, exchange: HostExchange, wasSent: boolean): void;
}

/** One request, from `send` until its answer has ended. */
export class HostExchange implements RequestControl, QueuedRequest {
  /** The whole request, until its answer begins: it may have to be sent again until then, and may be large. */
  bytes: Buffer;
  readonly receiver: ResponseReceiver;
  readonly onBehalfOf: bigint | null;
  #connection: HostConnection | null = null;
  /** Where it has waited for a connection, if it had to. */
  #queue: WaitingRequests<HostExchange> | null = null;
  #paused = false;
  over = false;
  arrived = false;
  sentTwice = false;

  constructor(bytes: Buffer, receiver: ResponseReceiver, onBehalfOf: bigint | null = null) {
    this.bytes = bytes;
    this.receiver = receiver;
    this.onBehalfOf = onBehalfOf;
  }

  get unreached(): boolean {
    return this.#connection?.wasReady !== true;
  }

  waitIn(queue: WaitingRequests<HostExchange>): void {
    this.#queue = queue;
    queue.add(this);
  }

  takenBy(connection: HostConnection): void {
    this.#connection = connection;
    if (this.#paused) connection.pause();
  }

  pause(): void {
    this.#paused = true;
    if (!this.over) this.#connection?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.over) this.#connection?.resume();
  }

  cancel(): void {
    if (this.over) return;
    this.over = true;
    this.#connection?.drop();
    this.#queue?.forget(this);
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    this.receiver.end();
  }

  fail(error: Error): void {
    if (this.over) return;
    this.over = true;
    this.receiver.failed(error);
  }
}

/** One connection to a host. It carries one HTTP/1.1 request at a time. */
export class HostConnection {
  readonly #terms: ConnectionTerms;
  readonly #socket: Socket;
  readonly #isTls: boolean;
  readonly #onHead = (status: number, headers: IncomingHttpHeaders): void => {
    if (this.#exchange?.over === false) this.#exchange.receiver.head(status, headers);
  };
  readonly #onWritten = (error?: Error | null): void => {
    if (!error) this.#sent = true;
  };
  #exchange: HostExchange | null = null;
  #answer: Http1Response | null = null;
  readonly #knownHead = new KnownHead();
  /** An earlier request was answered on this connection, so the host may be closing it as idle. */
  #reused = false;
  /** The whole request has left this process. */
  #sent = false;
  #connecting: Timer | null;
  #error: Error | null = null;
  #closed = false;
  /** The turn of the event loop by which everything that the host sent after its last answer has been read. */
  #quietAtTurn = 0;
  /** When the connection must no longer be reused, by the monotonic clock; set after its first answer. */
  expiresMs = Number.POSITIVE_INFINITY;

  constructor(terms: ConnectionTerms) {
    this.#terms = terms;
    this.#isTls = terms.url.protocol === 'https:';
    this.#socket = openSocket(terms, {
      ready: () => this.#connected(),
      read: (bytes) => this.#read(bytes),
    });
    this.#connecting = terms.clock.after(LIMITS.hostConnectMs, () =>
      this.#break(new Error(`No connection to the host within ${LIMITS.hostConnectMs / 1000} seconds.`)),
    );
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, LIMITS.hostProbeMs);
    this.#socket.on('error', (error) => {
      this.#error ??= error;
    });
    this.#socket.on('close', () => this.#close());
  }

  /** The host could be sent something, whether or not the connection has closed since. */
  get wasReady(): boolean {
    return this.#connecting === null;
  }

  get usable(): boolean {
    return !this.#closed && !this.#socket.destroyed && this.#socket.writable;
  }

  /** The event loop has looked at the connection since its last answer. Had the host sent more, it would be closed. */
  get isQuiet(): boolean {
    return TURNS.count >= this.#quietAtTurn;
  }

  /** Usable, and the host has sent nothing since its last answer: no bytes that the next request could take for its own. */
  get reusable(): boolean {
    return this.usable && (this.isQuiet || !hasUnreadInput(this.#socket));
  }

  carry(exchange: HostExchange): void {
    this.#exchange = exchange;
    this.#answer = new Http1Response(LIMITS.hostHeaderBytesMax, this.#onHead, this.#knownHead);
    this.#sent = false;
    exchange.takenBy(this);
    this.#write(exchange.bytes);
  }

  /**
   * The system mostly takes a request at once, but over TLS never: only then is it worth being called back. If the rest of a
   * large request has just left when the host resets the connection, the empty write may fail in its place: it counts as unsent.
   */
  #write(bytes: Buffer): void {
    if (this.#isTls) {
      this.#socket.write(bytes, this.#onWritten);
      return;
    }
    this.#socket.write(bytes);
    const { writableLength, errored, destroyed } = this.#socket;
    this.#sent = writableLength === 0 && errored === null && !destroyed;
    if (!this.#sent) this.#socket.write(NOTHING, this.#onWritten);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes the connection now. A request in flight fails, unless it was cancelled. */
  drop(): void {
    this.#socket.destroy();
  }

  #connected(): void {
    this.#connecting?.cancel();
    this.#connecting = null;
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange;
    const answer = this.#answer;
    // Unsolicited bytes: the next request would take them for its answer.
    if (exchange === null || answer === null) {
      this.drop();
      return;
    }
    exchange.bytes = NOTHING;
    const piece = answer.read(bytes);
    exchange.arrived = answer.over;
    if (piece !== null && !exchange.over) exchange.receiver.data([piece]);
    if (answer.broken !== null) this.#break(new Error(answer.broken));
    else if (answer.over) this.#answered(exchange, answer);
  }

  #answered(exchange: HostExchange, answer: Http1Response): void {
    this.#exchange = null;
    this.#answer = null;
    if (!answer.keepsConnection || answer.excess || this.#socket.writableLength > 0 || !this.usable) this.drop();
    else {
      const keepMs = Math.min(LIMITS.hostKeepAliveMs, (answer.keepAliveMs ?? Infinity) - LIMITS.hostKeepAliveMarginMs);
      this.expiresMs = this.#terms.clock.monotonicMs() + keepMs;
      this.#reused = true;
      this.#quietAtTurn = TURNS.afterNextLook();
      this.#socket.resume();
      this.#terms.free(this);
    }
    exchange.end();
  }

  #break(error: Error): void {
    this.#error = error;
    this.drop();
  }

  #close(): void {
    this.#closed = true;
    this.#connecting?.cancel();
    const exchange = this.#exchange;
    this.#exchange = null;
    if (exchange !== null && this.#wasStale(exchange)) {
      this.#terms.resend(this, exchange, this.#sent);
      return;
    }
    this.#terms.gone(this);
    if (exchange === null) return;
    if (this.#error === null && this.#answer?.endsHere() === true) exchange.end();
    else exchange.fail(this.#error ?? new Error('The host closed the connection before its response was complete.'));
  }

  /** Hosts close idle connections when they like, also just before a request arrives on one. */
  #wasStale(exchange: HostExchange): boolean {
    return this.#reused && !exchange.over && this.#answer?.begun === false;
  }
}

interface SocketListener {
  ready(): void;
  /** The listener may keep the bytes. */
  read(bytes: Buffer): void;
}

function openSocket(terms: ConnectionTerms, { ready, read }: SocketListener): Socket {
  const { protocol, hostname, port } = terms.url;
  const host = hostname.replace(/^\[|\]$/g, '');
  const onread = sharedReads(read);
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80), onread }, ready);
  const options: ConnectionOptions & { readonly onread: typeof onread } = {
    host,
    port: Number(port || 443),
    onread,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    ...(terms.session !== undefined && { session: terms.session }),
  };
  const socket = connectTls(options, ready);
  socket.on('session', (session: Buffer) => {
    terms.session = session;
  });
  return socket;
}
