import type { Socket } from 'node:net';

/** Notices a client that reads nothing of what is waiting for it. */
export class ReaderProgress {
  readonly #socket: Socket;
  /** Bytes that the client had read at the last check, and when that number last changed. */
  #takenBytes = 0;
  #changedMs: number;

  constructor(socket: Socket, nowMs: number) {
    this.#socket = socket;
    this.#changedMs = nowMs;
  }

  /** True if bytes have been waiting for that long and the client took none of them. */
  isStalled(nowMs: number, limitMs: number): boolean {
    const { bytesWritten, writableLength } = this.#socket;
    const takenBytes = bytesWritten - writableLength;
    if (writableLength === 0 || takenBytes !== this.#takenBytes) this.#changedMs = nowMs;
    this.#takenBytes = takenBytes;
    return nowMs - this.#changedMs >= limitMs;
  }
}
