import { EventEmitter } from 'node:events';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type TransferListItem,
  type Worker,
} from 'node:worker_threads';

/** What a thread does next, until it closes the port, which stands for the one to its parent. */
export interface Duty {
  readonly entry: KeptEntry;
  readonly workerData: unknown;
  readonly port: MessagePort;
}

/** Sent when the thread is free for another duty. */
export const FREE = 'free';

export type KeptEntry = 'writer' | 'scanner';

/** More are free at once only after a test of many gateways. */
const FREE_MAX = 4;

/**
 * Threads of stores that have been closed, which do the work of the next ones: Node needs longer to start a thread than most
 * tests need for all else that they do with it. One that fails or is terminated is not used again.
 */
export class KeptThreads {
  readonly #start: () => Worker;
  readonly #free: Worker[] = [];

  constructor(start: () => Worker) {
    this.#start = start;
  }

  take(): Worker {
    const worker = this.#free.pop() ?? this.#start();
    worker.ref();
    return worker;
  }

  giveBack(worker: Worker): void {
    // By name: Node listens to these changes itself.
    for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
    worker.unref();
    if (this.#free.length < FREE_MAX) this.#free.push(worker);
    else void worker.terminate();
  }

  /** Ends the threads that are free. */
  async end(): Promise<void> {
    await Promise.all(this.#free.splice(0).map((worker) => worker.terminate()));
  }
}

/** Looks like a thread of its own to the one that starts it. */
export class KeptThread extends EventEmitter {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #isOver = false;

  constructor(threads: KeptThreads, entry: KeptEntry, workerData: unknown) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message: unknown) => this.emit('message', message));
    const worker = threads.take();
    this.#worker = worker;
    worker.on('error', (error: unknown) => this.emit('error', error));
    worker.on('exit', (code: number) => this.emit('exit', code));
    worker.on('message', (message: unknown) => {
      if (message !== FREE) return;
      this.#isOver = true;
      threads.giveBack(worker);
      this.#receiveTheRest();
      this.emit('exit', 0);
    });
    worker.postMessage({ entry, workerData, port: port2 } satisfies Duty, [port2]);
  }

  postMessage(message: unknown, transferred: readonly TransferListItem[] = []): void {
    this.#port.postMessage(message, transferred);
  }

  async terminate(): Promise<number> {
    return this.#isOver ? 0 : this.#worker.terminate();
  }

  /** Messages of two ports arrive in any order, but a thread that ends has delivered all of its own. */
  #receiveTheRest(): void {
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port))
      this.emit('message', next.message);
  }
}
