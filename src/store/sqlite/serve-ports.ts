import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { systemClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { isBroken } from './batch.ts';
import { type AnyVerbs, type Fault, faultOf, type Served } from './link.ts';

export type Request = { readonly verb: string; readonly args: unknown[]; readonly port?: MessagePort };
export type Reply = { result: unknown } | { error: string } | { broken: Fault };

/** Closes the thread, and connects another client of it. Only the thread that started it sends these. */
export const END = 'end';
export const CONNECT = 'connect';

/** The serving side, called once by a thread's entry file. */
export function serve(served: Served<AnyVerbs>): void {
  if (parentPort === null) throw new Error('This file is the entry point of a thread and cannot be run directly.');
  new PortServer(served, parentPort).start();
}

interface Received {
  readonly port: MessagePort;
  readonly request: Request;
}

/** Answers the requests of one or several ports, each in the order of its requests. */
class PortServer {
  readonly #served: Served<AnyVerbs>;
  readonly #parent: MessagePort;
  readonly #ports: MessagePort[] = [];

  constructor(served: Served<AnyVerbs>, parent: MessagePort) {
    this.#served = served;
    this.#parent = parent;
  }

  start(): void {
    this.#listen(this.#parent);
    const { tick } = this.#served;
    if (tick !== undefined) repeatTick(tick, (fault) => this.#tellAll(fault));
  }

  #listen(port: MessagePort): void {
    this.#ports.push(port);
    port.on('message', (request: Request) => this.#receive({ port, request }));
    port.on('close', () => void this.#ports.splice(this.#ports.indexOf(port), 1));
  }

  /** Takes what other ports have sent meanwhile, so that their batches share a commit. */
  #receive(first: Received): void {
    const received = [first];
    if (this.#ports.length > 1)
      for (const port of this.#ports) {
        const next = port === first.port ? undefined : receiveMessageOnPort(port);
        if (next !== undefined) received.push({ port, request: next.message as Request });
      }
    const { together } = this.#served;
    const joined = received.filter(({ request }) => request.verb === together?.verb);
    if (together !== undefined && joined.length > 1) this.#answerTogether(together.run, joined);
    else for (const one of joined) this.#answer(one);
    for (const one of received) if (!joined.includes(one)) this.#answer(one);
  }

  #answerTogether(run: (calls: readonly unknown[][]) => unknown[], received: readonly Received[]): void {
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
    else if (verb === CONNECT) this.#listen(request.port!);
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

  /** What broke is broken for every client. */
  #tellAll(fault: Fault): void {
    for (const port of this.#ports) port.postMessage({ broken: fault } satisfies Reply);
  }

  #end(): void {
    this.#served.end();
    for (const port of [...this.#ports]) port.close();
  }
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
