import { joinPieces } from '../../kit/joined-pieces.ts';
import { LIMITS } from '../../limits.ts';
import type { BodyReader, InboundRequest } from '../server.ts';
import type { RequestLines } from './request-lines.ts';

/** The connection that a body arrives on. */
interface BodySource {
  readonly remoteAddress?: string | undefined;
  pause(): void;
  resume(): void;
}

export class OwnRequest implements InboundRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly #source: BodySource;
  #reader: BodyReader | null = null;
  /** Pieces that arrived before there was a reader. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isComplete = false;
  #isBroken = false;
  #isPaused = false;

  constructor(lines: RequestLines, source: BodySource) {
    this.method = lines.method;
    this.url = lines.url;
    this.httpVersionMajor = lines.httpVersionMajor;
    this.httpVersionMinor = lines.httpVersionMinor;
    this.rawHeaders = lines.rawHeaders;
    this.headers = lines.headers;
    this.#source = source;
  }

  get complete(): boolean {
    return this.#isComplete;
  }

  get peerAddress(): string | null {
    return this.#source.remoteAddress ?? null;
  }

  /** Most bodies arrive with their head, so this is the usual way to get one. */
  takeWhole(): Buffer | null {
    if (!this.#isComplete || this.#reader !== null) return null;
    const pieces = this.#unread;
    this.#unread = [];
    return joinPieces(pieces);
  }

  read(reader: BodyReader): void {
    const unread = this.#unread;
    this.#reader = reader;
    this.#unread = [];
    this.#isPaused = false;
    for (const piece of unread) reader.data(piece);
    if (this.#isComplete) reader.end();
    else if (this.#isBroken) reader.failed();
    else if (!this.#isPaused) this.#source.resume();
  }

  /** A body that has arrived can no longer be paused: the connection is already reading what follows. */
  pause(): void {
    if (this.#isComplete) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  /** Called by the connection. Without a reader, pieces are kept up to a limit; then the connection is paused. */
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
    this.resume();
    this.#reader?.end();
  }

  /** The rest of the body will never arrive. */
  breakOff(): void {
    if (this.#isComplete || this.#isBroken) return;
    this.#isBroken = true;
    this.#reader?.failed();
  }
}
