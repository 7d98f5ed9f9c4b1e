import { fstatSync, openSync, write, writeSync } from 'node:fs';
import { systemClock } from './clock.ts';

/** How long lines wait to be written together: a write per line costs as much as a write for all of them. */
const GATHERING_MS = 20;
/** This many bytes are written at once, without waiting for more. */
const GATHERED_BYTES = 64 * 1024;
/** Lines waiting for a slow destination; beyond this they are dropped. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** When a destination that was full is tried again. */
const RETRY_MS = 50;
/** How long the end of the process waits for the last lines to leave. */
const EXIT_WAIT_MS = 100;
const FLUSH_WAIT_MS = 1000;

interface LineWriterTerms {
  /** A file descriptor, or the path of a file to append to. */
  readonly destination: number | string;
  /** The line to write once writing works again, given how many lines were dropped. */
  droppedLine(count: number): string;
  /** Replaced in tests by a disk that fails and recovers. */
  readonly write?: WriteBytes;
}

export type WriteBytes = (
  fd: number,
  bytes: Buffer,
  done: (error: NodeJS.ErrnoException | null, writtenBytes: number) => void,
) => void;

/**
 * Writes lines to a file descriptor and never blocks, throws or retries forever: a closed terminal, a full disk or a
 * reader that stopped must not stop the gateway. Lines that cannot be written are dropped and counted.
 */
export class LineWriter {
  readonly #fd: number;
  readonly #terms: LineWriterTerms;
  readonly #write: WriteBytes;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** The rest of the lines being written now; null while nothing is being written. */
  #writing: Buffer | null = null;
  #writingLines = 0;
  #isScheduled = false;
  #dropped = 0;
  #droppedUnsaid = 0;
  #onIdle: (() => void)[] = [];

  constructor(terms: LineWriterTerms) {
    const { destination } = terms;
    this.#terms = terms;
    this.#write = terms.write ?? write;
    this.#fd = typeof destination === 'string' ? openSync(destination, 'a') : destination;
    process.once('exit', () => this.flushSync());
  }

  /** Lines dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (this.#waitingBytes + line.length > WAITING_BYTES_MAX) {
      this.#drop(1);
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#schedule(GATHERING_MS);
  }

  /** Resolves when every line has been written or dropped, or after a second. */
  flush(): Promise<void> {
    this.#writeNext();
    if (this.#writing === null) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = systemClock.after(FLUSH_WAIT_MS, resolve);
      this.#onIdle.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** For the end of the process: writes the last lines, waiting only for a moment. */
  flushSync(): void {
    if (this.#writing === null && this.#waiting.length === 0) return;
    if (this.#writing === null && this.#isFile()) {
      tryWriteSync(this.#fd, this.#takeWaiting());
      return;
    }
    // A pipe or a terminal may block for ever, so a thread of Node's pool writes while this one waits a moment.
    if (this.#waiting.length > 0) this.#write(this.#fd, this.#takeWaiting(), () => {});
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_WAIT_MS);
  }

  #isFile(): boolean {
    try {
      return fstatSync(this.#fd).isFile();
    } catch {
      return false;
    }
  }

  #schedule(afterMs: number): void {
    if (this.#isScheduled || this.#writing !== null) return;
    this.#isScheduled = true;
    systemClock.after(afterMs, () => this.#writeNext(), { unref: true });
  }

  #writeNext(): void {
    this.#isScheduled = false;
    if (this.#writing !== null) return;
    const lines = this.#waiting.length;
    if (lines === 0) {
      for (const resolve of this.#onIdle.splice(0)) resolve();
      return;
    }
    this.#writing = this.#takeWaiting();
    this.#writingLines = lines;
    this.#writeRest();
  }

  #writeRest(): void {
    this.#write(this.#fd, this.#writing!, (error, writtenBytes) => {
      if (error === null) this.#wrote(writtenBytes);
      else if (error.code === 'EAGAIN') systemClock.after(RETRY_MS, () => this.#writeRest(), { unref: true });
      else this.#failed();
    });
  }

  #wrote(writtenBytes: number): void {
    const rest = this.#writing!.subarray(writtenBytes);
    if (rest.length > 0) {
      this.#writing = rest;
      this.#writeRest();
      return;
    }
    this.#writing = null;
    if (this.#droppedUnsaid > 0) this.write(this.#terms.droppedLine(this.#droppedUnsaid));
    this.#droppedUnsaid = 0;
    // On a busy server lines wait after every write, and few of them: without a pause each write would have only those.
    const isHurried = this.#onIdle.length > 0 || this.#waitingBytes >= GATHERED_BYTES;
    if (isHurried || this.#waiting.length === 0) this.#writeNext();
    else this.#schedule(GATHERING_MS);
  }

  /** The next lines are tried again: a disk may have space again, and a terminal may have been replaced by a file. */
  #failed(): void {
    this.#drop(this.#writingLines);
    this.#writing = null;
    if (this.#waiting.length > 0) this.#schedule(RETRY_MS);
    else this.#writeNext();
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    this.#droppedUnsaid += lines;
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.from(this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingBytes = 0;
    return bytes;
  }
}

function tryWriteSync(fd: number, bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } catch {
    // The process is ending: there is nobody left to tell.
  }
}
