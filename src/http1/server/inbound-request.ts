import { LIMITS } from '../../limits.ts';
import type { BodyReader, InboundRequest } from '../server.ts';
import type { RequestLines } from './request-lines.ts';

/** What of a request's connection its reader may govern. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/** A request whose head has come; its body may still be on its way. */
export class OwnRequest implements InboundRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly #source: BodySource;
  #reader: BodyReader | null = null;
  /** What came before anyone read. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isComplete = false;
  #isBroken = false;

  constructor(lines: RequestLines, source: BodySource) {
    this.method = lines.method;
    this.url = lines.url;
    this.httpVersionMajor = lines.httpVersionMajor;
    this.httpVersionMinor = lines.httpVersionMinor;
    this.rawHeaders = lines.rawHeaders;
    this.headers = lines.headers;
    this.#source = source;
  }

  /** All of it has come. */
  get complete(): boolean {
    return this.#isComplete;
  }

  /** The body, where all of it came before anyone asked, as most do; it is the asker's from then on. */
  takeWhole(): Buffer | null {
    if (!this.#isComplete || this.#reader !== null) return null;
    const pieces = this.#unread;
    this.#unread = [];
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /** Gives what has come and what will; a later reader takes the place of an earlier one. */
  read(reader: BodyReader): void {
    const unread = this.#unread;
    this.#reader = reader;
    this.#unread = [];
    for (const piece of unread) reader.data(piece);
    if (this.#isComplete) reader.end();
    else if (this.#isBroken) reader.failed();
    else this.#source.resume();
  }

  /** For the connection: a piece of the body has come. What nobody reads is kept up to a bound, and then not taken in. */
  take(piece: Buffer): void {
    if (this.#reader !== null) {
      this.#reader.data(piece);
      return;
    }
    this.#unread.push(piece);
    this.#unreadBytes += piece.length;
    if (this.#unreadBytes > LIMITS.unreadRequestBytesMax) this.#source.pause();
  }

  finish(): void {
    this.#isComplete = true;
    this.#reader?.end();
  }

  /** It will never be whole. */
  breakOff(): void {
    if (this.#isComplete || this.#isBroken) return;
    this.#isBroken = true;
    this.#reader?.failed();
  }
}
