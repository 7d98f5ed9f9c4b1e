import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createServer } from '../kit/platform-http.ts';
import { LIMITS } from '../limits.ts';
import { ConnectionCheck } from './connection-check.ts';
import type { ConnectionSlot } from './connection-limit.ts';
import { type ListenAddress, listenOn } from './listen.ts';
import { NodeRequest, NodeResponse } from './node-message.ts';
import { ReaderProgress } from './reader-progress.ts';
import type { ClientTimeouts, HttpServer, HttpServerTerms, RequestFault } from './server.ts';

/** The platform's HTTP/1.1 server, with the limits and the behaviour of our own. */
export class NodeHttpServer implements HttpServer {
  readonly #server: Server;
  readonly #connections = new Map<Socket, NodeConnection>();
  readonly #check: ConnectionCheck;

  constructor(terms: HttpServerTerms) {
    this.#check = new ConnectionCheck(terms.timeouts, (nowMs) => {
      const limitMs = terms.timeouts.stallMs + this.#check.everyMs;
      for (const connection of this.#connections.values()) connection.checkReader(nowMs, limitMs);
    });
    const server = createServer(optionsFor(terms.timeouts, this.#check.everyMs));
    // The size of the head is bounded, and a request with too many headers is refused by its handler.
    server.maxHeadersCount = 0;
    server.on('connection', (socket) => this.#accept(socket, terms));
    const receive = (message: IncomingMessage, response: ServerResponse): void =>
      this.#connections.get(message.socket)?.receive(message, response);
    server.on('request', receive);
    // The handler decides whether the client may send its body, and refuses any other expectation.
    server.on('checkContinue', receive);
    server.on('checkExpectation', receive);
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const why = faultOf(error);
      if (why === null) socket.destroy();
      else this.#connections.get(socket as Socket)?.breakOff(why);
    });
    server.on('connect', (_message, socket) => {
      socket.on('error', () => {});
      this.#connections.get(socket as Socket)?.breakOff('tunnel');
    });
    this.#server = server;
  }

  get connections(): number {
    return this.#connections.size;
  }

  async listen(address: ListenAddress): Promise<string> {
    const url = await listenOn(this.#server, address);
    this.#check.start();
    return url;
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections.values()) connection.endIfSilent();
    return closed.finally(() => this.#check.stop());
  }

  cutAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #accept(socket: Socket, terms: HttpServerTerms): void {
    const slot = terms.connections.take(() => socket.destroy());
    if (slot === null) {
      socket.destroy();
      return;
    }
    this.#connections.set(socket, new NodeConnection(socket, slot, terms, this.#check.clock.monotonicMs()));
    socket.on('close', () => this.#connections.delete(socket));
  }
}

function optionsFor({ requestHeadMs, requestMs }: ClientTimeouts, checkMs: number) {
  return {
    insecureHTTPParser: false,
    // A request without a host is refused by its handler, in the common envelope and with a request id.
    requireHostHeader: false,
    maxHeaderSize: LIMITS.requestHeaderBytesMax,
    headersTimeout: Math.min(requestHeadMs, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: LIMITS.clientKeepAliveMs,
    noDelay: true,
  };
}

/** Null for a connection that failed or was closed by the client. */
function faultOf({ code }: NodeJS.ErrnoException): RequestFault | null {
  if (code === 'HPE_HEADER_OVERFLOW') return 'head_too_long';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'too_slow';
  return code?.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE' ? 'unreadable' : null;
}

interface Received {
  readonly request: NodeRequest;
  readonly message: ServerResponse;
}

interface Current {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
}

/** One client's connection. node:http parses requests as they arrive; here they take their turns. */
class NodeConnection {
  readonly #socket: Socket;
  readonly #slot: ConnectionSlot;
  readonly #terms: HttpServerTerms;
  readonly #reader: ReaderProgress;
  readonly #waiting: Received[] = [];
  #current: Current | null = null;
  /** A request that was answered before its whole body had arrived. */
  #unfinished: NodeRequest | null = null;
  /** How many bytes the client had sent when the current request began. */
  #bytesBefore = 0;
  /** Malformed bytes follow the waiting requests: the connection ends when these are answered. */
  #endsAfterAnswers = false;
  #isPausing = false;
  #isEnding = false;

  constructor(socket: Socket, slot: ConnectionSlot, terms: HttpServerTerms, nowMs: number) {
    this.#socket = socket;
    this.#slot = slot;
    this.#terms = terms;
    this.#reader = new ReaderProgress(socket, nowMs);
    socket.on('close', () => this.#closed());
  }

  receive(message: IncomingMessage, response: ServerResponse): void {
    if (this.#isEnding) return;
    this.#waiting.push({ request: new NodeRequest(message), message: response });
    if (!this.#isPausing) this.#pauseSoon();
    // By then the rest of this read is parsed, so it is known whether the body is complete, broken or still arriving. Ticks run too early.
    if (this.#current === null && this.#waiting.length === 1) setImmediate(() => this.#next());
  }

  /** A client that sends far ahead is not read until its turn comes; node:http undoes a pause within its parser. */
  #pauseSoon(): void {
    this.#isPausing = true;
    process.nextTick(() => {
      this.#isPausing = false;
      const aheadBytes = this.#socket.bytesRead - this.#bytesBefore;
      if (this.#waiting.length > 0 && aheadBytes > LIMITS.unreadRequestBytesMax) this.#socket.pause();
    });
  }

  checkReader(nowMs: number, limitMs: number): void {
    if (this.#reader.isStalled(nowMs, limitMs)) this.#socket.destroy();
  }

  /** node:http itself ends connections that are idle after a request, but not those that never sent one. */
  endIfSilent(): void {
    if (this.#socket.bytesRead === 0) this.#end();
  }

  /** Sends an error for bytes that are not a request. If they follow valid requests, those are answered instead. */
  breakOff(why: RequestFault): void {
    if (this.#isEnding) return;
    const last = this.#waiting.at(-1);
    if (last !== undefined && !last.request.complete) this.#waiting.pop();
    const isBehind = this.#waiting.length > 0 || this.#current?.request.complete === true;
    if (isBehind && why !== 'tunnel') {
      this.#endsAfterAnswers = true;
      return;
    }
    const current = this.#current;
    const hasAnswered = current === null ? this.#unfinished?.complete === false : current.response.headSent;
    // Not the id of a whole request before it, whose call may cost something.
    const requestId = current?.request.complete === false ? current.response.requestId : null;
    if (!hasAnswered && this.#socket.writable) this.#socket.write(this.#terms.answerBroken(why, requestId));
    this.#end();
    this.#current = null;
    current?.response.close();
    current?.request.breakOff();
  }

  #next(): void {
    if (this.#current !== null || this.#isEnding) return;
    const received = this.#waiting.shift();
    if (received === undefined) {
      if (this.#endsAfterAnswers) this.#end();
      return;
    }
    if (this.#waiting.length === 0 && this.#socket.isPaused()) this.#socket.resume();
    const { request, message } = received;
    const response = new NodeResponse(request, message, this.#socket, {
      unread: () => this.#terms.connections.enter('unread', this.#slot),
      answered: () => this.#answered(),
    });
    this.#bytesBefore = this.#socket.bytesRead;
    this.#current = { request, response };
    this.#terms.connections.enter(request.complete ? 'working' : 'receiving', this.#slot);
    request.onEnd = () => this.#received(request);
    this.#terms.answer(request, response);
  }

  #received(request: NodeRequest): void {
    const current = this.#current;
    if (current?.request === request && !current.response.headSent)
      this.#terms.connections.enter('working', this.#slot);
  }

  #answered(): void {
    const current = this.#current;
    this.#current = null;
    if (current === null || this.#socket.destroyed) return;
    this.#terms.connections.enter('idle', this.#slot);
    this.#unfinished = current.request.complete ? null : current.request;
    if (current.response.closes) this.#end();
    else this.#next();
  }

  /** Closes the socket once everything written has been sent. */
  #end(): void {
    this.#isEnding = true;
    this.#waiting.length = 0;
    this.#terms.connections.enter('idle', this.#slot);
    this.#socket.destroySoon();
  }

  #closed(): void {
    const current = this.#current;
    this.#isEnding = true;
    this.#terms.connections.leave(this.#slot);
    this.#waiting.length = 0;
    this.#current = null;
    current?.request.breakOff();
    current?.response.close();
  }
}
