import type { ConnectionLimit } from './connection-limit.ts';
import type { ListenAddress } from './listen.ts';

/**
 * The seam between the product and the code that speaks HTTP/1.1 to callers. `server/` is our own implementation,
 * `node-http.ts` is the platform's; `docs/decisions/0022-http-server-behind-a-seam.md` lists where they differ.
 */

/** Receives the body of a request. */
export interface BodyReader {
  data(piece: Buffer): void;
  end(): void;
  /** The connection closed early, or the framing of the body is broken. */
  failed(): void;
}

/** A request whose head has arrived; its body may still be on the way. */
export interface InboundRequest {
  readonly method: string;
  /** The request target exactly as the client sent it. */
  readonly url: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Names and values in turn, as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Names in lower case; the values of repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address of the peer, which may be a proxy; null once the connection is gone. */
  readonly peerAddress: string | null;
  /** The whole body has arrived. */
  readonly complete: boolean;
  /** The whole body if it has already arrived and nobody has read it, else null. The caller owns the bytes. */
  takeWhole(): Buffer | null;
  /** Delivers what has arrived and what will; a later reader replaces an earlier one. */
  read(reader: BodyReader): void;
  /** Delivers no more of the body until `resume`, so that a client does not send faster than its reader works. */
  pause(): void;
  resume(): void;
}

/** The response to one request: a head, then a body of known length or in chunks. */
export interface OutboundResponse {
  readonly headSent: boolean;
  /** Nothing more can be sent: the response has ended, or the connection has. */
  readonly destroyed: boolean;
  /** Bytes that wait because the client reads slowly. */
  readonly pendingBytes: number;
  /** The connection ends with this response. */
  closes: boolean;
  /** The id that its request has got; null before. */
  requestId: string | null;
  /** Called once, when the last byte has left or the connection ended before that. */
  onClose: (() => void) | null;
  /** Called when the client has read what was pending after a write returned false. */
  onDrain: (() => void) | null;
  /** Adds header lines to whatever head is sent later. */
  addLines(lines: string): void;
  /** Sends `100 Continue`, unless the client speaks HTTP/1.0. */
  sendContinue(): void;
  /** `lines` are complete header lines; `length` is that of the body, null if it is not known yet. */
  head(status: number, lines: string, length: number | null): void;
  /** Returns false when the client reads more slowly than we write. */
  write(bytes: Buffer | string): boolean;
  end(bytes?: Buffer | string): void;
  /** Breaks the connection, so that the client cannot mistake a partial body for a whole one. */
  destroy(): void;
}

/** Resolves when the client has read what was written, or is gone. */
export function clientReads(response: OutboundResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    response.onDrain = resolve;
    response.onClose = resolve;
  });
}

export type Answer = (request: InboundRequest, response: OutboundResponse) => void;

/** How long a client may take to send a head, to send a whole request, and to read more of a response. */
export interface ClientTimeouts {
  readonly requestHeadMs: number;
  readonly requestMs: number;
  readonly stallMs: number;
}

/** Why received bytes did not become a request. */
export type RequestFault = 'unreadable' | 'head_too_long' | 'too_slow' | 'tunnel';

export interface HttpServerTerms {
  readonly timeouts: ClientTimeouts;
  /** Bounds the connections of this server. */
  readonly connections: ConnectionLimit;
  readonly answer: Answer;
  /** The complete response, head and body, to bytes that did not become a request, or not a whole one: then it may have an id. */
  answerBroken(why: RequestFault, requestId: string | null): string;
}

/** A listening HTTP/1.1 server. Requests on one connection are answered one after the other. */
export interface HttpServer {
  /** Open connections; tests use it to find leaks. */
  readonly connections: number;
  /** Resolves with the URL under which this machine can reach the server. */
  listen(address: ListenAddress): Promise<string>;
  /** Accepts no more connections and closes idle ones; resolves when the last one has ended. */
  close(): Promise<void>;
  /** Destroys every connection. */
  cutAll(): void;
}

export type CreateHttpServer = (terms: HttpServerTerms) => HttpServer;
