import type { Socket } from 'node:net';
import type { Clock } from '../../kit/clock.ts';
import { pieceBehindHead } from '../../kit/joined-pieces.ts';
import { LIMITS } from '../../limits.ts';
import { Http1Body } from '../body.ts';
import type { ConnectionLimit, ConnectionSlot } from '../connection-limit.ts';
import { saysClose } from '../headers.ts';
import { ReaderProgress } from '../reader-progress.ts';
import type { Answer, ClientTimeouts, RequestFault } from '../server.ts';
import { OwnRequest } from './inbound-request.ts';
import { mayBecomeHead, mayContinueHead, type RequestLines, readRequestLines } from './request-lines.ts';
import { OwnResponse } from './response.ts';

export interface ConnectionTerms {
  readonly timeouts: ClientTimeouts;
  readonly connections: ConnectionLimit;
  /** How often connections are checked: a time may have begun up to this much later than the check that saw it. */
  readonly checkMs: number;
  readonly clock: Clock;
  readonly answer: Answer;
  /** The complete response to bytes that did not become a request. */
  answerBroken(why: RequestFault, requestId: string | null): string;
  gone(connection: ClientConnection): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;
const NOTHING = Buffer.alloc(0);

/**
 * One client's connection. Requests are answered one after the other: the next one is not parsed before the current one
 * is answered. The socket is read all the while, because the client may hang up.
 */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #slot: ConnectionSlot;
  readonly #terms: ConnectionTerms;
  /** Received but not parsed: the beginning of a head, or what follows the current request. */
  #unread: Buffer = NOTHING;
  /** How many of these bytes were checked to be the beginning of a head. */
  #checkedBytes = 0;
  #request: OwnRequest | null = null;
  #body: Http1Body | null = null;
  #response: OwnResponse | null = null;
  /** When the head of the current request began, or when the connection became idle. */
  #sinceMs: number;
  #isIdle = false;
  #isReading = false;
  /** The unread bytes arrived while another request was being answered. */
  #isBehind = false;
  #isEnding = false;
  #skippedBytes = 0;
  readonly #reader: ReaderProgress;
  readonly #enterUnread = (): void => this.#terms.connections.enter('unread', this.#slot);

  constructor(socket: Socket, slot: ConnectionSlot, terms: ConnectionTerms) {
    this.#socket = socket;
    this.#slot = slot;
    this.#terms = terms;
    this.#sinceMs = terms.clock.monotonicMs();
    this.#reader = new ReaderProgress(socket, this.#sinceMs);
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('drain', () => this.#response?.onDrain?.());
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  /** Ends the connection of a client that takes too long, with a 408 if it was sending a request. */
  checkPatience(nowMs: number): void {
    const { requestHeadMs, requestMs, stallMs } = this.#terms.timeouts;
    const waitedMs = nowMs - this.#sinceMs;
    if (this.#reader.isStalled(nowMs, stallMs + this.#terms.checkMs)) this.#socket.destroy();
    if (this.#isEnding || this.#request?.complete === true) return;
    if (this.#isIdle) {
      if (waitedMs >= LIMITS.clientKeepAliveMs) this.#end();
    } else if (waitedMs >= (this.#request === null ? Math.min(requestHeadMs, requestMs) : requestMs)) {
      this.#breakOff('too_slow');
    }
  }

  /** Ends the connection unless part of a request has arrived. */
  endIfIdle(): void {
    if (this.#request === null && this.#unread.length === 0) this.#end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#isEnding && this.#request === null) return;
    const request = this.#request;
    if (request !== null && !request.complete) this.#readBody(request, this.#body!, bytes);
    else {
      this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
      if (request === null) this.#readOn();
      else this.#keepBehind();
    }
  }

  /** A client that sends far ahead is not read until its turn comes. */
  #keepBehind(): void {
    this.#isBehind = true;
    if (this.#unread.length > LIMITS.unreadRequestBytesMax) this.#socket.pause();
  }

  /** A loop, not a recursion: one read may hold many small requests, and each may be answered at once. */
  #readOn(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#request === null && !this.#isEnding && this.#readHead());
    this.#isReading = false;
  }

  /** Returns true if there was a whole head. */
  #readHead(): boolean {
    const start = emptyLines(this.#unread);
    if (start > 0) this.#unread = this.#unread.subarray(start);
    const bytes = this.#unread;
    if (bytes.length === 0) {
      this.#isBehind = false;
      return false;
    }
    if (this.#isIdle) this.#begin();
    const end = bytes.indexOf(HEAD_END, Math.max(0, this.#checkedBytes - HEAD_END.length + 1));
    const isTooLong = end === -1 ? bytes.length > LIMITS.requestHeaderBytesMax : end > LIMITS.requestHeaderBytesMax;
    if (isTooLong) this.#breakOff('head_too_long');
    else if (end !== -1) this.#takeHead(bytes, end);
    else if (!this.#mayBecomeHead(bytes)) this.#breakOff('unreadable');
    return end !== -1 && !isTooLong;
  }

  /** Checks each byte once, however slowly they arrive. */
  #mayBecomeHead(bytes: Buffer): boolean {
    const checked = this.#checkedBytes;
    this.#checkedBytes = bytes.length;
    if (checked === 0) return mayBecomeHead(bytes.toString('latin1'));
    return mayContinueHead(bytes.toString('latin1', checked - 1));
  }

  #begin(): void {
    this.#isIdle = false;
    this.#sinceMs = this.#terms.clock.monotonicMs();
  }

  #takeHead(bytes: Buffer, end: number): void {
    const lines = readRequestLines(bytes, end);
    if (lines === null) this.#breakOff('unreadable');
    else if (lines.method === 'CONNECT') this.#breakOff('tunnel');
    else this.#open(lines, bytes, end + HEAD_END.length);
  }

  #open(lines: RequestLines, bytes: Buffer, bodyStart: number): void {
    const request = new OwnRequest(lines, this.#socket);
    const response = this.#openResponse(lines);
    this.#request = request;
    this.#response = response;
    this.#unread = NOTHING;
    this.#checkedBytes = 0;
    this.#isBehind = false;
    this.#skippedBytes = 0;
    this.#body = new Http1Body(lines.framing ?? 0, LIMITS.requestHeaderBytesMax);
    const bodyBytes = typeof lines.framing === 'number' ? lines.framing : 0;
    this.#readBody(
      request,
      this.#body,
      bodyStart === bytes.length ? NOTHING : pieceBehindHead(bytes, bodyStart, bodyBytes),
    );
    if (this.#isEnding) return;
    this.#terms.connections.enter(request.complete ? 'working' : 'receiving', this.#slot);
    this.#terms.answer(request, response);
  }

  #openResponse({ method, headers, framing, httpVersionMajor, httpVersionMinor }: RequestLines): OwnResponse {
    const isOld = httpVersionMajor === 1 && httpVersionMinor === 0;
    const closes = framing === null || saysClose(headers.connection);
    const { clock } = this.#terms;
    const unread = this.#enterUnread;
    const answered = (): void => this.#answered();
    const terms = { socket: this.#socket, clock, headOnly: method === 'HEAD', isOld, unread, answered };
    return new OwnResponse(terms, closes);
  }

  #readBody(request: OwnRequest, body: Http1Body, bytes: Buffer): void {
    const at = body.read(bytes, 0);
    const piece = body.takePiece(bytes);
    if (piece !== null && this.#response !== null) request.take(piece);
    else if (piece !== null) this.#skip(piece);
    if (body.broken !== null) this.#breakOff('unreadable');
    else if (body.over) this.#bodyEnds(request, at === bytes.length ? NOTHING : bytes.subarray(at));
  }

  #bodyEnds(request: OwnRequest, behind: Buffer): void {
    if (behind.length > 0) {
      this.#unread = behind;
      this.#keepBehind();
    }
    // A body that arrived with its head ends before the request is handed on.
    if (this.#response?.headSent === false) this.#terms.connections.enter('working', this.#slot);
    request.finish();
    // Its reader may have answered it, and the next request may have begun by now.
    if (this.#response === null && this.#request === request) this.#next();
  }

  /** Drops the rest of a body whose request was already answered. */
  #skip(piece: Buffer): void {
    this.#skippedBytes += piece.length;
    if (this.#skippedBytes > LIMITS.forgottenBodyBytesMax) this.#socket.destroy();
  }

  #answered(): void {
    const response = this.#response;
    this.#response = null;
    if (this.#socket.destroyed || response === null) return;
    this.#terms.connections.enter('idle', this.#slot);
    if (response.closes || this.#isEnding) this.#end();
    else if (this.#request?.complete === true) this.#next();
    else this.#request?.read(DISCARD);
  }

  #next(): void {
    this.#request = null;
    this.#body = null;
    this.#isIdle = true;
    this.#sinceMs = this.#terms.clock.monotonicMs();
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#unread.length > 0) this.#readOn();
  }

  /** Closes the socket once everything written has been sent. */
  #end(): void {
    this.#isEnding = true;
    this.#request = null;
    this.#terms.connections.enter('idle', this.#slot);
    this.#socket.destroySoon();
  }

  /**
   * Handles bytes that are not a request, or a request that cannot be completed: sends an error response and closes. After
   * an answered request it only closes, because the client could take the error for a second answer to that one.
   */
  #breakOff(why: RequestFault): void {
    const request = this.#request;
    const response = this.#response;
    const sendsError = response === null ? request === null && !this.#isBehind : !response.headSent;
    if (sendsError && this.#socket.writable)
      this.#socket.write(this.#terms.answerBroken(why, response?.requestId ?? null));
    this.#response = null;
    this.#end();
    response?.close();
    request?.breakOff();
  }

  #closed(): void {
    this.#isEnding = true;
    this.#terms.connections.leave(this.#slot);
    this.#terms.gone(this);
    this.#request?.breakOff();
    this.#response?.close();
  }
}

const DISCARD = { data: () => {}, end: () => {}, failed: () => {} };

/** Some clients send an empty line after a body that its length does not count. */
function emptyLines(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] === CR || bytes[at] === LF)) at++;
  return at;
}
