import { parentPort, type Worker } from 'node:worker_threads';
import { systemClock } from '../../kit/clock.ts';
import { startThread } from '../../kit/start-thread.ts';
import { LIMITS } from '../../limits.ts';
import { StoreUnavailable } from '../store.ts';
import { isBroken } from './batch.ts';
import { describeFault } from './faults.ts';
import { type AnyVerbs, type Fault, faultOf, type Link, type Served, unavailable } from './link.ts';

type Request = { verb: string; args: unknown[] };
type Reply = { result: unknown } | { error: string } | { broken: Fault };

/** The serving side, called once by a thread's entry file. */
export function serve({ verbs, tick, end }: Served<AnyVerbs>): void {
  const port = parentPort;
  if (port === null) throw new Error('This file is the entry point of a thread and cannot be run directly.');
  port.on('message', ({ verb, args }: Request) => {
    if (verb === 'end') {
      end();
      port.close();
      return;
    }
    port.postMessage(answer(verbs, verb, args));
  });
  if (tick !== undefined) repeatTick(tick, (fault) => port.postMessage({ broken: fault } satisfies Reply));
}

function repeatTick(tick: () => void, onBroken: (fault: Fault) => void): void {
  const run = (): void => {
    try {
      tick();
      systemClock.after(LIMITS.storeTickMs, run, { unref: true });
    } catch (error) {
      onBroken(faultOf(error));
    }
  };
  systemClock.after(LIMITS.storeTickMs, run, { unref: true });
}

function answer(verbs: AnyVerbs, verb: string, args: unknown[]): Reply {
  try {
    return { result: verbs[verb]!(...(args as never[])) };
  } catch (error) {
    const fault = faultOf(error);
    return isBroken(error) ? { broken: fault } : { error: fault.message };
  }
}

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The calling side. If the thread fails or exits, all pending calls and the owner learn of it. */
export class Thread<Verbs extends AnyVerbs> implements Link<Verbs> {
  readonly #worker: Worker;
  /**
   * Pending calls in order, which is also the order of the replies. Not a Map: a Map that changes with every batch
   * leaves old tables behind, which keep the batch's calls alive until a rare full garbage collection.
   */
  readonly #waiting: Waiting[] = [];
  readonly #onBroken: (error: StoreUnavailable) => void;
  #broken: StoreUnavailable | null = null;
  #ending = false;

  /** `entry` is a file in this folder, without its extension. */
  constructor(entry: string, workerData: unknown, onBroken: (error: StoreUnavailable) => void) {
    this.#worker = startThread(import.meta.url, entry, { workerData });
    this.#onBroken = onBroken;
    this.#worker.on('message', (reply: Reply) => this.#receive(reply));
    this.#worker.on('error', (error) =>
      this.#break(new StoreUnavailable(describeFault(error) ?? `The ${entry} thread failed: ${String(error)}`)),
    );
    this.#worker.on('exit', () => this.#break(new StoreUnavailable(`The ${entry} thread ended.`)));
  }

  get broken(): StoreUnavailable | null {
    return this.#broken;
  }

  call<Verb extends keyof Verbs & string>(
    verb: Verb,
    ...args: Parameters<Verbs[Verb]>
  ): Promise<ReturnType<Verbs[Verb]>> {
    if (this.#broken !== null) return Promise.reject(this.#broken);
    if (this.#ending) return Promise.reject(new StoreUnavailable('The store is closed.'));
    return new Promise((resolve, reject) => {
      this.#worker.postMessage({ verb, args } satisfies Request);
      this.#waiting.push({ resolve, reject });
    });
  }

  async end(): Promise<void> {
    if (this.#ending || this.#broken !== null) return;
    this.#ending = true;
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#worker.postMessage({ verb: 'end', args: [] } satisfies Request);
    await exited;
  }

  #receive(reply: Reply): void {
    if ('broken' in reply) this.#break(unavailable(reply.broken));
    const waiting = this.#waiting.shift();
    if ('result' in reply) waiting?.resolve(reply.result as never);
    else if ('error' in reply) waiting?.reject(new Error(reply.error));
  }

  #break(reason: StoreUnavailable): void {
    if (this.#broken !== null) return;
    this.#broken = reason;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#broken);
    this.#worker.terminate().catch(() => undefined);
    if (!this.#ending) this.#onBroken(this.#broken);
  }
}
