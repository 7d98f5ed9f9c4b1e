import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transport } from '../../src/config/config.ts';
import { processEnvironment } from '../process-environment.ts';
import { scriptOf } from '../programs.ts';
import type { Hello, Question, Vitals } from './gateway.ts';

const LOOKS_MAX = 600;
const STOP_MS = 30_000;

/** The gateway under attack, in a process of its own. */
export class GatewayChild {
  readonly hello: Hello;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, hello: Hello) {
    this.#process = child;
    this.hello = hello;
  }

  static async start(simUrl: string, transport: Transport): Promise<GatewayChild> {
    const env = processEnvironment(process.env.HOME ?? '');
    const child = fork(scriptOf('campaigns/http/gateway.ts'), [simUrl, transport], {
      execArgv: ['--expose-gc'],
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.removeListener('exit', end));
    const [hello] = (await Promise.race([once(child, 'message'), failOnExit(child)])) as [Hello];
    return new GatewayChild(child, hello);
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Once no call is running, after a garbage collection. */
  async vitals(): Promise<Vitals> {
    for (let look = 0; ; look++) {
      this.#process.send('vitals' satisfies Question);
      const [answer] = (await Promise.race([once(this.#process, 'message'), failOnExit(this.#process)])) as [Vitals];
      const isQuiet = answer.callsUnderWay === 0 && answer.openHolds === 0;
      if (isQuiet || look === LOOKS_MAX) return answer;
      await nextTurn();
    }
  }

  /** Asks it to stop; false if something, like a forgotten timer, keeps it running. */
  async stop(): Promise<boolean> {
    if (!this.isAlive) return true;
    const ended = once(this.#process, 'exit');
    this.#process.send('stop' satisfies Question);
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS);
    const [code] = (await ended) as [number | null];
    clearTimeout(timer);
    return code === 0;
  }
}

async function failOnExit(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit');
  throw new Error(`The gateway ended: ${code ?? signal}.`);
}
