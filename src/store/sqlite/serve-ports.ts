import { flushCompileCache } from 'node:module';
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { Bell } from '../../kit/bell.ts';
import { systemClock, type Timer } from '../../kit/clock.ts';
import { giveBackWhenIdle, IdleMemory } from '../../kit/idle-memory.ts';
import { LIMITS } from '../../limits.ts';
import { isBroken } from './batch.ts';
import { type AnyVerbs, type Fault, faultOf, type Served, type Together } from './link.ts';

export type Request = { readonly verb: string; readonly args: unknown[]; readonly port?: MessagePort };
export type Reply = { result: unknown } | { error: string } | { broken: Fault };

/** Closes the thread, and connects another client of it. Only the thread that started it sends these. */
export const END = 'end';
export const CONNECT = 'connect';

/** Sent by a client to disconnect itself. */
export const LEAVE = 'leave';

/** The serving side, called once by a thread's entry file. */
export function serve(served: Served<AnyVerbs>): void {
  new PortServer(served, parent()).listen();
}

/** The same for a thread that sleeps between requests. The sender of a request rings the bell. */
export function serveByBell(served: Served<AnyVerbs>, bell: Bell): void {
  new PortServer(served, parent()).sleep(bell);
}

/** Also keeps the compiled form of the files that only this thread has loaded, for its next start: Node does so when a process ends. */
function parent(): MessagePort {
  setImmediate(flushCompileCache);
  if (parentPort === null) throw new Error('This file is the entry point of a thread and cannot be run directly.');
  return parentPort;
}

/** The writer is idle with so few requests in a tick: its health is checked and its figures are read all the time. */
const QUIET_REQUESTS = 5;

interface Received {
  readonly port: MessagePort;
  readonly request: Request;
}

/** Answers the requests of one or several clients, each in the order of its requests. */
class PortServer {
  readonly #served: Served<AnyVerbs>;
  readonly #ports: MessagePort[] = [];
  readonly #memory = new IdleMemory();
  #idleWatch: Timer | null = null;
  #isEnded = false;

  constructor(served: Served<AnyVerbs>, parent: MessagePort) {
    this.#served = served;
    this.#ports.push(parent);
  }

  /** Answers requests as the event loop delivers them. */
  listen(): void {
    const [port] = this.#ports;
    port!.on('message', (request: Request) => this.#answer({ port: port!, request }));
    this.#idleWatch = giveBackWhenIdle();
  }

  /**
   * Sleeps until the bell rings, and takes the requests itself. The event loop gets a turn with every tick, which is
   * also when files are synced in the background.
   */
  sleep(bell: Bell): void {
    const tickAtMs = systemClock.monotonicMs() + LIMITS.storeTickMs;
    let requests = 0;
    for (;;) {
      const { rings } = bell;
      const received = this.#takeAll();
      this.#answerAll(received);
      requests += received.length;
      if (this.#isEnded) return;
      const leftMs = tickAtMs - systemClock.monotonicMs();
      if (leftMs <= 0) break;
      if (received.length === 0) bell.sleep(rings, leftMs);
    }
    this.#tick();
    this.#memory.look(requests <= QUIET_REQUESTS);
    setImmediate(() => this.sleep(bell));
  }

  #tick(): void {
    try {
      this.#served.tick?.();
    } catch (error) {
      this.#tellAll(faultOf(error));
    }
  }

  /** Takes one request from each client that has sent some. */
  #takeAll(): Received[] {
    const received: Received[] = [];
    for (const port of this.#ports) {
      const next = receiveMessageOnPort(port);
      if (next !== undefined) received.push({ port, request: next.message as Request });
    }
    return received;
  }

  /** Batches of several clients share a commit. */
  #answerAll(received: readonly Received[]): void {
    const { together } = this.#served;
    const joined = received.filter(({ request }) => request.verb === together?.verb);
    if (together !== undefined && joined.length > 1) this.#answerTogether(together, joined);
    else for (const one of joined) this.#answer(one);
    for (const one of received) if (!joined.includes(one)) this.#answer(one);
  }

  #answerTogether({ run }: Together, received: readonly Received[]): void {
    try {
      const results = run(received.map(({ request }) => request.args));
      received.forEach(({ port }, index) => void port.postMessage({ result: results[index] } satisfies Reply));
    } catch (error) {
      for (const { port } of received) this.#fail(port, error);
    }
  }

  #answer({ port, request }: Received): void {
    const { verb, args } = request;
    if (verb === END) this.#end();
    else if (verb === CONNECT) this.#ports.push(request.port!);
    else if (verb === LEAVE) this.#leave(port);
    else
      try {
        port.postMessage({ result: this.#served.verbs[verb]!(...(args as never[])) } satisfies Reply);
      } catch (error) {
        this.#fail(port, error);
      }
  }

  #fail(port: MessagePort, error: unknown): void {
    if (isBroken(error)) this.#tellAll(faultOf(error));
    else port.postMessage({ error: faultOf(error).message } satisfies Reply);
  }

  /** A failure affects every client. */
  #tellAll(fault: Fault): void {
    for (const port of this.#ports) port.postMessage({ broken: fault } satisfies Reply);
  }

  #leave(port: MessagePort): void {
    this.#ports.splice(this.#ports.indexOf(port), 1);
    port.close();
  }

  #end(): void {
    this.#isEnded = true;
    this.#idleWatch?.cancel();
    this.#served.end();
    for (const port of this.#ports) port.close();
  }
}
