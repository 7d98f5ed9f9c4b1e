import { MessageChannel, type MessagePort, type TransferListItem, type Worker } from 'node:worker_threads';
import type { Bell } from '../../kit/bell.ts';
import { startThread } from '../../kit/start-thread.ts';
import { StoreUnavailable } from '../store.ts';
import { describeFault } from './faults.ts';
import { type AnyVerbs, type Link, unavailable } from './link.ts';
import { CONNECT, END, LEAVE, type Reply, type Request } from './serve-ports.ts';

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The calling side of a thread. If that fails or exits, all pending calls and the owner learn of it. */
abstract class PortLink<Verbs extends AnyVerbs> implements Link<Verbs> {
  /**
   * Pending calls in order, which is also the order of the replies. Not a Map: a Map that changes with every batch
   * leaves old tables behind, which keep the batch's calls alive until a rare full garbage collection.
   */
  readonly #waiting: Waiting[] = [];
  readonly #onBroken: (error: StoreUnavailable) => void;
  #broken: StoreUnavailable | null = null;
  protected isEnding = false;

  constructor(onBroken: (error: StoreUnavailable) => void) {
    this.#onBroken = onBroken;
  }

  get broken(): StoreUnavailable | null {
    return this.#broken;
  }

  protected abstract post(request: Request): void;
  /** Lets go of a thread that is broken. */
  protected abstract drop(): void;
  abstract end(): Promise<void>;

  call<Verb extends keyof Verbs & string>(
    verb: Verb,
    ...args: Parameters<Verbs[Verb]>
  ): Promise<ReturnType<Verbs[Verb]>> {
    if (this.#broken !== null) return Promise.reject(this.#broken);
    if (this.isEnding) return Promise.reject(new StoreUnavailable('The store is closed.'));
    return new Promise((resolve, reject) => {
      this.post({ verb, args });
      this.#waiting.push({ resolve, reject });
    });
  }

  protected receive(reply: Reply): void {
    if ('broken' in reply) this.break(unavailable(reply.broken));
    const waiting = this.#waiting.shift();
    if ('result' in reply) waiting?.resolve(reply.result as never);
    else if ('error' in reply) waiting?.reject(new Error(reply.error));
  }

  protected break(reason: StoreUnavailable): void {
    if (this.#broken !== null) return;
    this.#broken = reason;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#broken);
    this.drop();
    if (!this.isEnding) this.#onBroken(this.#broken);
  }
}

/** A thread that this one has started. */
export class Thread<Verbs extends AnyVerbs> extends PortLink<Verbs> {
  readonly #worker: Worker;
  readonly #bell: Bell | null;

  /** `entry` is a file in this folder, without its extension. `bell`: wakes the thread, if it sleeps between requests. */
  constructor(
    entry: string,
    workerData: unknown,
    onBroken: (error: StoreUnavailable) => void,
    bell: Bell | null = null,
  ) {
    super(onBroken);
    this.#bell = bell;
    this.#worker = startThread(import.meta.url, entry, { workerData });
    this.#worker.on('message', (reply: Reply) => this.receive(reply));
    this.#worker.on('error', (error) =>
      this.break(new StoreUnavailable(describeFault(error) ?? `The ${entry} thread failed: ${String(error)}`)),
    );
    this.#worker.on('exit', () => this.break(new StoreUnavailable(`The ${entry} thread ended.`)));
  }

  /** A port over which another thread calls the same functions, with a `SharedThread`. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#send({ verb: CONNECT, args: [], port: port2 }, [port2]);
    return port1;
  }

  protected override post(request: Request): void {
    this.#send(request);
  }

  protected override drop(): void {
    this.#worker.terminate().catch(() => undefined);
  }

  override async end(): Promise<void> {
    if (this.isEnding || this.broken !== null) return;
    this.isEnding = true;
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#send({ verb: END, args: [] });
    await exited;
  }

  #send(request: Request, transferred: readonly TransferListItem[] = []): void {
    this.#worker.postMessage(request, transferred);
    this.#bell?.ring();
  }
}

/** A thread that another one has started and connected to this one. */
export class SharedThread<Verbs extends AnyVerbs> extends PortLink<Verbs> {
  readonly #port: MessagePort;
  readonly #bell: Bell;

  constructor(name: string, port: MessagePort, onBroken: (error: StoreUnavailable) => void, bell: Bell) {
    super(onBroken);
    this.#port = port;
    this.#bell = bell;
    port.on('message', (reply: Reply) => this.receive(reply));
    port.on('close', () => this.break(new StoreUnavailable(`The ${name} thread ended.`)));
  }

  protected override post(request: Request): void {
    this.#port.postMessage(request);
    this.#bell.ring();
  }

  protected override drop(): void {
    this.#port.close();
  }

  override async end(): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    this.post({ verb: LEAVE, args: [] });
    this.#port.close();
  }
}
