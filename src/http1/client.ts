import type { IncomingHttpHeaders } from 'node:http';

export interface OutgoingRequest {
  readonly origin: string;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** Told what arrives, in this order, each at most once but `data`; after `end` or `failed` comes nothing more. */
export interface AnswerReceiver {
  head(status: number, headers: IncomingHttpHeaders): void;
  /** What one read of the socket gave: a host puts every token into a chunk of its own. */
  data(chunks: readonly Buffer[]): void;
  end(): void;
  failed(error: Error): void;
}

/** The sender's hand on a request under way; each may be called at any time, also too late. */
export interface RequestControl {
  /** The whole answer has come, though its end may not be told yet; not every client can say so. */
  readonly arrived?: boolean;
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** Whoever can carry requests to hosts; callers bring their own time limits. */
export interface Sender {
  send(request: OutgoingRequest, receiver: AnswerReceiver): RequestControl;
}
