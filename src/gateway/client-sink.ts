import type { ResponseRoom } from './guards/response-room.ts';

/** A complete response, ready to send to the client. */
export interface WholeResponse {
  readonly status: number;
  /** Header lines, without Content-Length. */
  readonly lines: string;
  readonly body: Buffer;
}

/** The client's side of a call. The HTTP layer implements it over a real response. */
export interface ClientSink {
  /** The connection is closed or was abandoned. */
  readonly gone: boolean;
  readonly headSent: boolean;
  /** Counts the memory of the response. */
  readonly room: ResponseRoom;
  /** Runs if the connection closes before the response is finished; immediately if it already has. */
  onGone(listener: () => void): void;
  onDrain(listener: () => void): void;
  /** Takes header lines as they are sent; `length` is the body's length, or null if unknown. */
  head(status: number, lines: string, length: number | null): void;
  /** Returns false if the client reads more slowly than we write: wait for drain. */
  write(bytes: Buffer | string): boolean;
  end(bytes?: Buffer | string): void;
  /** Destroys the connection, so that the client cannot mistake a partial response for a complete one. */
  destroy(): void;
}
