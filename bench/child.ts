import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { cpus } from 'node:os';
import { resolve } from 'node:path';

/** The core for what is measured, and the core for everything else. */
export const MEASURED_CORE = 0;
export const OTHER_CORE = 1;

export const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;

/** A gateway closes a million receipts before it is ready, which takes over a minute. */
const READY_MS_MAX = 300_000;
const STOP_MS_MAX = 30_000;
/** The unit of /proc/<pid>/stat; 100 a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** A process that this benchmark started, with all its threads on one core. Nobody else ends it. */
export class Child {
  static readonly #all: Child[] = [];
  readonly #process: ChildProcess;

  /** `core`: null if it may run on all of them. */
  constructor(core: number | null, command: string, args: readonly string[], options: { quiet?: boolean } = {}) {
    const pinned = canPin && core !== null ? ['taskset', '-c', String(core), command, ...args] : [command, ...args];
    this.#process = spawn(pinned[0]!, pinned.slice(1), {
      stdio: ['ignore', options.quiet ? 'ignore' : 'inherit', options.quiet ? 'ignore' : 'inherit', 'ipc'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
    });
    Child.#all.push(this);
  }

  /**
   * One of the programs beside this file, or one named by its whole path; it reports when it is ready, and what others
   * need to know about it.
   */
  static async ready<Hello>(core: number | null, file: string, terms: unknown, nodeFlags: readonly string[] = []) {
    const args = [...nodeFlags, resolve(import.meta.dirname, file), JSON.stringify(terms)];
    const child = new Child(core, process.execPath, args);
    return { child, hello: (await child.nextMessage(READY_MS_MAX)) as Hello };
  }

  async ask<Answer>(question: unknown, withinMs: number): Promise<Answer> {
    this.#process.send(question as object);
    return (await this.nextMessage(withinMs)) as Answer;
  }

  async nextMessage(withinMs: number): Promise<unknown> {
    const gone = new AbortController();
    const ended = () => gone.abort(new Error(`${this.#process.spawnargs.join(' ')} ended.`));
    this.#process.once('exit', ended);
    try {
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(withinMs)]);
      return (await once(this.#process, 'message', { signal }))[0];
    } catch (error) {
      throw gone.signal.aborted ? gone.signal.reason : error;
    } finally {
      this.#process.off('exit', ended);
    }
  }

  /** For third-party programs, which report nothing: they are ready when they accept a connection. */
  async listensOn(port: number, withinMs = READY_MS_MAX): Promise<void> {
    for (const deadline = Date.now() + withinMs; Date.now() < deadline; ) {
      if (this.#process.exitCode !== null) throw new Error(`${this.#process.spawnargs.join(' ')} ended.`);
      if (await accepts(port)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`Nothing listens on port ${port}.`);
  }

  /** User and system time of all its threads so far. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  }

  /** Ends everything this benchmark started, and nothing else. */
  static async stopAll(): Promise<void> {
    await Promise.all(Child.#all.map((child) => child.stop()));
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const killTimer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS_MAX);
    await exited;
    clearTimeout(killTimer);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new Socket();
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
    socket.connect(port, '127.0.0.1');
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject()));
    });
  });
}

/** How a program beside this file reads its settings. */
export function readTerms<Terms>(): Terms {
  return JSON.parse(process.argv[2] ?? '{}') as Terms;
}

/** Says "ready", and ends with its parent. */
export function announce(hello: object): void {
  process.send!(hello);
  process.once('disconnect', () => process.exit());
}
