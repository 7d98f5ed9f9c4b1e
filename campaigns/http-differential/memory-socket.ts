import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A connection without a network: what is pushed arrives at its reader, what is written is dropped. */
export class MemorySocket extends Duplex {
  bytesWritten = 0;

  override _read(): void {}

  override _write(_bytes: Buffer, _encoding: string, done: () => void): void {
    done();
  }

  destroySoon(): void {
    this.destroy();
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  /** Both readers use the parts of a socket that are here. */
  asSocket(): Socket {
    return this as unknown as Socket;
  }
}
