import type { IncomingHttpHeaders } from 'node:http';

export interface OutgoingRequest {
  readonly origin: string;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Whom it is sent for: while requests wait for a connection, these take turns. Absent: the gateway itself. */
  readonly onBehalfOf?: bigint;
}

/**
 * Receives an answer: `head` once, `data` any number of times, then `end`. `failed` may come at any point instead. Nothing
 * is called after `end` or `failed`.
 */
export interface ResponseReceiver {
  head(status: number, headers: Readonly<IncomingHttpHeaders>): void;
  /** All chunks of one socket read: a host sends every token in a chunk of its own. */
  data(chunks: readonly Buffer[]): void;
  end(): void;
  failed(error: Error): void;
}

/** Controls a request in flight. Every method may be called at any time, even after the request has ended. */
export interface RequestControl {
  /** The whole answer has been read, though `end` may not have been called yet. Absent where the client cannot know. */
  readonly arrived?: boolean;
  /**
   * The whole request left on a reused connection that closed without an answer, and was sent again on a new one. The
   * host may have run it twice.
   */
  readonly sentTwice?: boolean;
  /**
   * No connection has been ready for the request, so no byte of it has reached the host: it still waits for one, or none
   * could be made (refused, timed out, not trusted under TLS).
   */
  readonly unreached?: boolean;
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** Sends requests to hosts. It limits only the time to connect; its callers limit everything else. */
export interface Sender {
  send(request: OutgoingRequest, receiver: ResponseReceiver): RequestControl;
}
