import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { callServer } from '../src/cli/operator-client.ts';
import { systemClock } from '../src/kit/clock.ts';
import { controlSocketPath } from '../src/main/books.ts';
import { processEnvironment } from './process-environment.ts';
import { BIN } from './programs.ts';

interface GatewayTerms {
  readonly folder: string;
  readonly configFile: string;
  /** Local mode instead of hosted mode. */
  readonly isLocal?: boolean;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node for the gateway and its threads. */
  readonly nodeOptions?: readonly string[];
  /** A program that starts the gateway and watches it, with its arguments. */
  readonly watcher?: readonly string[];
  /** Another way to run verbs than the control socket, which a gateway on PostgreSQL does not have. */
  operator?(url: string): RunVerb;
}

export type RunVerb = (verb: string, input?: object) => Promise<unknown>;

/** `tollgate serve` as a process of its own, on any free port. */
export interface GatewayProcess {
  readonly url: string;
  /** The lines of its log so far. */
  readonly log: readonly LogLine[];
  readonly pid: number;
  /** Ends it at once, with SIGKILL. */
  kill(): void;
  /** Asks it to stop cleanly. */
  stop(): Promise<void>;
  readonly ended: Promise<void>;
  /** Runs an operator's verb, as commands do. */
  readonly ask: RunVerb;
}

export async function startGatewayProcess(terms: GatewayTerms): Promise<GatewayProcess> {
  const child = spawnGateway(terms);
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const log: LogLine[] = [];
  const url = await readyUrl(child, log);
  const ask = terms.operator?.(url) ?? askSocket(terms.folder);
  const pid = terms.operator === undefined ? await servedBy(ask) : child.pid!;
  endWithThisProcess(pid, ended);
  return {
    url,
    log,
    pid,
    ask,
    ended,
    kill: () => void process.kill(pid, 'SIGKILL'),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGTERM');
      await ended;
    },
  };
}

/** Runs verbs over the control socket of the gateway that has this folder open. */
export function askSocket(folder: string): RunVerb {
  const operator = { socketPath: controlSocketPath(folder), name: 'The gateway', clock: systemClock };
  return async (verb, input = {}) => JSON.parse(await callServer(operator, verb, input));
}

/** The gateway itself, not the program that watches it. */
async function servedBy(ask: RunVerb): Promise<number> {
  const { server } = (await ask('status')) as { server: { pid: number } };
  return server.pid;
}

/** A campaign that is interrupted leaves no gateway running. */
function endWithThisProcess(pid: number, ended: Promise<void>): void {
  const end = (): void => void process.kill(pid, 'SIGKILL');
  process.once('exit', end);
  void ended.then(() => process.removeListener('exit', end));
}

/** The same for every gateway process of this campaign. */
export const MASTER_KEY = randomBytes(32).toString('base64');

function spawnGateway(terms: GatewayTerms): ChildProcess {
  const { folder, configFile, isLocal = false, env: more, nodeOptions = [], watcher = [] } = terms;
  const mode = isLocal ? '--no-local-hosts' : '--hosted';
  const serve = ['serve', mode, '--json', '--port', '0', '--operations-port', '0', '--log-level', 'warn'];
  const command = [
    ...watcher,
    process.execPath,
    ...nodeOptions,
    BIN,
    ...serve,
    '--data',
    folder,
    '--config',
    configFile,
  ];
  const env = processEnvironment(folder, { TOLLGATE_MASTER_KEY: MASTER_KEY, ...more });
  return spawn(command[0]!, command.slice(1), { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

type LogLine = Readonly<Record<string, unknown>>;

/** Enough for a test; a campaign may run for hours. */
const LINES_KEPT = 1_000;

/** Its first line says where it listens; the rest is its log, which is read so that the pipe never fills. */
function readyUrl(child: ChildProcess, log: LogLine[]): Promise<string> {
  return new Promise((done, fail) => {
    let complaint = '';
    child.stderr!.on('data', (chunk) => (complaint += chunk));
    child.once('error', fail);
    child.once('close', (code) => fail(new Error(`The gateway ended with ${code}: ${complaint}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const said = JSON.parse(line) as LogLine;
      if (log.push(said) > LINES_KEPT) log.shift();
      if (typeof said.url === 'string') done(said.url);
    });
  });
}

/** One command, in a process of its own. */
export function runCommand(folder: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((done, fail) => {
    const env = processEnvironment(folder);
    const child = spawn(process.execPath, [BIN, ...args, '--data', folder], { env, cwd: folder });
    let text = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (text += chunk));
    child.once('error', fail);
    child.once('close', (code) => done({ code, text }));
  });
}
