/** An answer in one piece, as it goes to the client. */
export interface WholeAnswer {
  readonly status: number;
  /** Header lines, without the length. */
  readonly lines: string;
  readonly body: Buffer;
}

/** The client's end of a call, as the gateway sees it; http gives it over a real response. */
export interface ClientSink {
  /** The connection is closed, or was given up. */
  readonly gone: boolean;
  readonly headSent: boolean;
  /** Runs when the connection closes before the answer was finished; at once if that has happened. */
  onGone(listener: () => void): void;
  onDrain(listener: () => void): void;
  /** Header lines as they are sent; `length` is the body's, null while nobody knows it. */
  head(status: number, lines: string, length: number | null): void;
  /** False when the client reads slower than we write: wait for drain. */
  write(bytes: Buffer | string): boolean;
  end(bytes?: Buffer | string): void;
  /** Breaks the connection, so that no client takes what it got for the whole. */
  destroy(): void;
}
