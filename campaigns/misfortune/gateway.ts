import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { callServer } from '../../src/cli/operator-client.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { controlSocketPath } from '../../src/main/books.ts';
import { MASTER_KEY } from '../gateway-process.ts';
import { processEnvironment } from '../process-environment.ts';
import { BIN } from '../programs.ts';

export interface GatewayTerms {
  readonly folder: string;
  readonly configFile: string;
  /** Absent: the ledger is in the folder. */
  readonly storeUrl?: string;
  /** A command that starts the gateway, for example a shell that sets a limit first. */
  readonly launcher?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How a gateway process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** How it explained that: the errors in its log, and the lines of standard error without the banner. */
  readonly said: readonly string[];
}

const EXIT_UNREACHABLE = 3;
const LINES_KEPT = 200;

/** `tollgate serve --hosted` as a process of its own, which may refuse to start. */
export class Gateway {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<Ending>;
  readonly #folder: string;

  private constructor(url: string, pid: number, ended: Promise<Ending>, folder: string) {
    this.url = url;
    this.pid = pid;
    this.ended = ended;
    this.#folder = folder;
  }

  /** If it ends without serving, resolves to how it ended. */
  static async start(terms: GatewayTerms): Promise<Gateway | Ending> {
    const command = [...(terms.launcher ?? []), ...commandOf(terms)];
    const child = spawn(command[0]!, command.slice(1), {
      env: environmentOf(terms),
      cwd: terms.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = new Output(child);
    const ended = new Promise<Ending>((done, fail) => {
      child.once('error', fail);
      child.once('close', (code, signal) => done({ code, signal, said: output.said() }));
    });
    endWithThisProcess(child, ended);
    const url = await Promise.race([output.url, ended]);
    return typeof url === 'string' ? new Gateway(url, child.pid!, ended, terms.folder) : url;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ending> {
    if (isAlive(this.pid)) this.signal(signal);
    return this.ended;
  }

  /** Runs an operator's verb through the control socket, as commands do. */
  async ask(verb: string, input: object = {}): Promise<unknown> {
    return askFolder(this.#folder, verb, input);
  }
}

export async function askFolder(folder: string, verb: string, input: object = {}): Promise<unknown> {
  const operator = { socketPath: controlSocketPath(folder), name: 'The gateway', clock: systemClock };
  return JSON.parse(await callServer(operator, verb, input));
}

/** Everything wrong with how a process refused to continue: it must exit with code 3 and print one sentence. */
export function judgeRefusal({ code, signal, said }: Ending, where: string): string[] {
  const how = `${where}: it ended with ${signal ?? `exit code ${code}`}, saying ${JSON.stringify(said)}`;
  const isOneSentence = said.length === 1 && !/\bbug\b|^\s+at /.test(said[0]!);
  return code === EXIT_UNREACHABLE && isOneSentence ? [] : [how];
}

export function commandOf({ folder, configFile, storeUrl }: GatewayTerms, logLevel = 'warn'): string[] {
  const serve = ['serve', '--hosted', '--json', '--no-local-hosts', '--port', '0', '--operations-port', '0'];
  const store = storeUrl === undefined ? [] : ['--store', storeUrl];
  const place = ['--data', folder, '--config', configFile, '--log-level', logLevel, ...store];
  return [process.execPath, BIN, ...serve, ...place];
}

export function environmentOf({ folder, env = {} }: GatewayTerms): Record<string, string> {
  return processEnvironment(folder, { TOLLGATE_MASTER_KEY: MASTER_KEY, ...env });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Its log on standard output, where the first line is its address, and what it writes to standard error. */
class Output {
  readonly url: Promise<string>;
  readonly #log: string[] = [];
  #errors = '';
  #isReady = false;

  constructor(child: ChildProcess) {
    child.stderr!.on('data', (chunk) => (this.#errors += chunk));
    this.url = new Promise((done) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        const { url } = readLine(line);
        if (url === undefined) this.#keep(line);
        else {
          this.#isReady = true;
          done(url);
        }
      });
    });
  }

  said(): string[] {
    const errors = this.#errors.split('\n').filter((line) => line !== '');
    // The banner is not an error.
    const isComplaint = (line: string): boolean => line.startsWith('{"error"') || /\bbug\b|^\s+at |Error/.test(line);
    const logged = this.#log.filter((line) => (readLine(line).level ?? 'error') === 'error');
    return [...logged, ...(this.#isReady ? errors.filter(isComplaint) : errors)];
  }

  #keep(line: string): void {
    this.#log.push(line);
    if (this.#log.length > LINES_KEPT) this.#log.shift();
  }
}

/** A line that is not JSON has neither. */
function readLine(line: string): { url?: string; level?: string } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

/** A campaign that is interrupted leaves no gateway running. */
function endWithThisProcess(child: ChildProcess, ended: Promise<unknown>): void {
  const end = (): void => {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
  };
  process.once('exit', end);
  const forget = (): void => void process.removeListener('exit', end);
  void ended.then(forget, forget);
}
