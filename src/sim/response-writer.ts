import type { ServerResponse } from 'node:http';
import type { SimCall } from './calls.ts';
import type { ReplyHeaders } from './reply.ts';

/** Writes one response: keeps the call's record up to date, respects back-pressure, notices when the client disconnects. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #call: SimCall;
  #closed = false;
  #severed = false;
  /** Ends the current wait. */
  #abandonWait: (() => void) | null = null;

  constructor(response: ServerResponse, call: SimCall, onClosed: (writer: ResponseWriter) => void) {
    this.#response = response;
    this.#call = call;
    response.once('close', () => {
      call.completed = response.writableFinished;
      call.clientClosed = !call.completed && !this.#severed;
      call.stalled = false;
      this.#close();
      onClosed(this);
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  get bytesWritten(): number {
    return this.#call.bytesWritten;
  }

  /** Head and body in one write, for calls without faults. */
  sendWhole(status: number, headers: ReplyHeaders, body: string | Buffer, bytes: number): void {
    this.writeHead(status, headers);
    this.#call.bytesWritten = bytes;
    this.#response.end(body);
  }

  writeHead(status: number, headers: ReplyHeaders): void {
    this.#call.status = status;
    this.#response.writeHead(status, headers);
  }

  flushHead(): void {
    this.#response.flushHeaders();
  }

  /** Resolves when the socket has room again; false if the client is gone. */
  async write(bytes: Buffer): Promise<boolean> {
    if (this.#closed) return false;
    this.#call.bytesWritten += bytes.length;
    if (this.#response.write(bytes)) return true;
    this.#call.stalled = true;
    const drained = await this.waitUntil((done) => {
      this.#response.once('drain', done);
      return () => this.#response.off('drain', done);
    });
    this.#call.stalled = false;
    return drained;
  }

  end(): void {
    if (!this.#closed) this.#response.end();
  }

  /** Destroys the socket after everything written has left, so that the cut falls exactly there. */
  async cut(): Promise<void> {
    const { socket } = this.#response;
    await this.waitUntil((done) => {
      socket?.write('', () => done());
      return () => {};
    });
    this.sever();
  }

  /** Destroys the socket now; not counted as the client's doing. */
  sever(): void {
    this.#severed = true;
    this.#close();
    this.#response.destroy();
  }

  /** Waits for `begin` to call back. False if the response closed first; then calls the function that `begin` returned. */
  waitUntil(begin: (done: () => void) => () => void): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      let over = false;
      const finish = (came: boolean) => {
        over = true;
        this.#abandonWait = null;
        resolve(came);
      };
      const giveUp = begin(() => finish(true));
      if (over) return;
      this.#abandonWait = () => {
        giveUp();
        finish(false);
      };
    });
  }

  #close(): void {
    this.#closed = true;
    this.#abandonWait?.();
  }
}
