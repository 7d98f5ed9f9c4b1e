import type { Socket } from 'node:net';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { Http1Body } from '../body.ts';
import { saysClose } from '../headers.ts';
import { ReaderProgress } from '../reader-progress.ts';
import type { Answer, Breakage, Patience } from '../server.ts';
import { OwnRequest } from './inbound-request.ts';
import { mayBecomeHead, mayContinueHead, type RequestLines, readRequestLines } from './request-lines.ts';
import { OwnResponse } from './response.ts';

export interface ConnectionTerms {
  readonly patience: Patience;
  /** How often it is looked at, so how much later than this something may have begun. */
  readonly checkMs: number;
  readonly clock: Clock;
  readonly answer: Answer;
  /** The whole response to bytes that never became a request. */
  answerBroken(why: Breakage): string;
  gone(connection: ClientConnection): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;
const NOTHING = Buffer.alloc(0);

/**
 * One client's connection, in HTTP/1.1 read by the letter. Requests are taken one after the other: the next one is not
 * looked at before the one in hand is answered, but the client is listened to all the while, because it may hang up.
 */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #terms: ConnectionTerms;
  /** What has come and was not read: a head that has begun, or what stands behind the request in hand. */
  #unread: Buffer = NOTHING;
  /** How much of it is known to be the beginning of a head. */
  #checkedBytes = 0;
  #request: OwnRequest | null = null;
  #body: Http1Body | null = null;
  #response: OwnResponse | null = null;
  /** When the head of the request in hand began, or the client had nothing more to say. */
  #sinceMs: number;
  #isIdle = false;
  #isReading = false;
  /** What is unread came while another request was being answered. */
  #isBehind = false;
  #isEnding = false;
  #skippedBytes = 0;
  readonly #reader: ReaderProgress;

  constructor(socket: Socket, terms: ConnectionTerms) {
    this.#socket = socket;
    this.#terms = terms;
    this.#sinceMs = terms.clock.monotonicMs();
    this.#reader = new ReaderProgress(socket, this.#sinceMs);
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('drain', () => this.#response?.onDrain?.());
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  /** Cuts who takes too long, in words where there are any to say. */
  checkPatience(nowMs: number): void {
    const { requestHeadMs, requestMs, stallMs } = this.#terms.patience;
    const waitedMs = nowMs - this.#sinceMs;
    if (this.#reader.isStalled(nowMs, stallMs + this.#terms.checkMs)) this.#socket.destroy();
    if (this.#isEnding || this.#request?.complete === true) return;
    if (this.#isIdle) {
      if (waitedMs >= LIMITS.clientKeepAliveMs) this.#end();
    } else if (waitedMs >= (this.#request === null ? Math.min(requestHeadMs, requestMs) : requestMs)) {
      this.#breakOff('too_slow');
    }
  }

  /** Nothing of a request has come: nobody minds if it ends. */
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

  /** A loop, not a recursion: many small requests may come in one piece, and each may be answered at once. */
  #readOn(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#request === null && !this.#isEnding && this.#readHead());
    this.#isReading = false;
  }

  /** True if there was a whole head. */
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

  /** Each byte is looked at once, however slowly they come. */
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
    const lines = readRequestLines(bytes.toString('latin1', 0, end));
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
    this.#readBody(request, this.#body, bodyStart === bytes.length ? NOTHING : bytes.subarray(bodyStart));
    if (!this.#isEnding) this.#terms.answer(request, response);
  }

  #openResponse({ method, headers, framing, httpVersionMajor, httpVersionMinor }: RequestLines): OwnResponse {
    const isOld = httpVersionMajor === 1 && httpVersionMinor === 0;
    const closes = framing === null || saysClose(headers.connection);
    const { clock } = this.#terms;
    const answered = (): void => this.#answered();
    return new OwnResponse({ socket: this.#socket, clock, headOnly: method === 'HEAD', isOld, answered }, closes);
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
    request.finish();
    if (this.#response === null) this.#next();
  }

  /** The rest of a body that was refused. */
  #skip(piece: Buffer): void {
    this.#skippedBytes += piece.length;
    if (this.#skippedBytes > LIMITS.forgottenBodyBytesMax) this.#socket.destroy();
  }

  #answered(): void {
    const response = this.#response;
    this.#response = null;
    if (this.#socket.destroyed || response === null) return;
    if (response.closes || this.#isEnding) this.#end();
    else if (this.#request?.complete === true) this.#next();
    else this.#request?.read(FORGETFUL);
  }

  #next(): void {
    this.#request = null;
    this.#body = null;
    this.#isIdle = true;
    this.#sinceMs = this.#terms.clock.monotonicMs();
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#unread.length > 0) this.#readOn();
  }

  /** What is being written still leaves. */
  #end(): void {
    this.#isEnding = true;
    this.#request = null;
    this.#socket.destroySoon();
  }

  /**
   * What came is no request, or no longer becomes one: it is told so, and shown the door. If it stands behind a request
   * in good order, it is shown the door alone: two answers could be confused.
   */
  #breakOff(why: Breakage): void {
    const request = this.#request;
    const response = this.#response;
    const isTold = response === null ? request === null && !this.#isBehind : !response.headSent;
    if (isTold && this.#socket.writable) this.#socket.write(this.#terms.answerBroken(why));
    this.#response = null;
    this.#end();
    response?.close();
    request?.breakOff();
  }

  #closed(): void {
    this.#isEnding = true;
    this.#terms.gone(this);
    this.#request?.breakOff();
    this.#response?.close();
  }
}

const FORGETFUL = { data: () => {}, end: () => {}, failed: () => {} };

/** Some clients end a body with a line more than they announced; it is nobody's request. */
function emptyLines(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] === CR || bytes[at] === LF)) at++;
  return at;
}
