import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../kit/clock.ts';
import { createServer } from '../kit/platform-http.ts';
import { CallLog, type SimCall } from './calls.ts';
import { handleControl, isControl } from './control.ts';
import { Gates } from './gates.ts';
import { PrefixMemory } from './prefix-memory.ts';
import type { SimHost } from './reply.ts';
import { readScript, type SimScript } from './script.ts';
import { type ScriptOptions, ScriptQueue } from './script-queue.ts';
import type { Sim } from './sim-handle.ts';
import { Upstream } from './upstream.ts';

export type { SimCall } from './calls.ts';
export type { SimScript } from './script.ts';

interface SimOptions {
  /** 0 or absent: any free port. */
  port?: number;
  clock?: Clock;
  /** How many calls are remembered. */
  callsKept?: number;
}

export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return new RunningSim(server, options);
}

class RunningSim implements Sim {
  readonly url: string;
  readonly port: number;
  readonly #server: Server;
  readonly #log: CallLog;
  readonly #gates = new Gates();
  readonly #scripts = new ScriptQueue();
  readonly #memory = new PrefixMemory();
  readonly #upstream: Upstream;
  #connections = 0;

  constructor(server: Server, options: SimOptions) {
    const clock = options.clock ?? systemClock;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.#log = new CallLog(options.callsKept);
    const host = createHost(this.#memory, clock);
    this.#upstream = new Upstream({ log: this.#log, gates: this.#gates, scripts: this.#scripts, host, clock });
    this.#listen();
  }

  #listen(): void {
    this.#server.on('connection', (socket) => {
      this.#connections++;
      socket.once('close', () => this.#connections--);
    });
    this.#server.on('request', (request, response) => {
      if (isControl(request)) handleControl(request, response, this);
      else this.#upstream.handle(request, response);
    });
  }

  get calls(): readonly SimCall[] {
    return this.#log.calls;
  }

  received(): number {
    return this.#log.received;
  }

  script(script: SimScript | null, options: ScriptOptions = {}): void {
    if (script === null) this.#scripts.withdraw(options.model);
    else this.#scripts.add(readScript(script), options);
  }

  release(gate: string, count = 1): void {
    this.#gates.release(gate, count);
  }

  waitForCalls(count: number): Promise<void> {
    return new Promise((resolve) => this.#log.whenReceived(count, resolve));
  }

  waitForGate(gate: string, count: number): Promise<void> {
    return new Promise((resolve) => this.#gates.whenWaiting(gate, count, resolve));
  }

  waitForIdle(): Promise<void> {
    return new Promise((resolve) => this.#upstream.whenIdle(resolve));
  }

  openConnections(): number {
    return this.#connections;
  }

  openResponses(): number {
    return this.#upstream.openResponses;
  }

  reset(): void {
    this.#upstream.severAll();
    this.#scripts.clear();
    this.#gates.clear();
    this.#memory.forgetAll();
    this.#log.clear();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#upstream.severAll();
    this.#server.closeAllConnections();
    await closed;
  }
}

function createHost(memory: PrefixMemory, clock: Clock): SimHost {
  const instance = randomBytes(6).toString('hex');
  let minted = 0;
  return {
    memory,
    nowSeconds: () => Math.floor(clock.nowMs() / 1000),
    mintId: (prefix) => `${prefix}sim${instance}${(minted++).toString(36).padStart(6, '0')}`,
  };
}
