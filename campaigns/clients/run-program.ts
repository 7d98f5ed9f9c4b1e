import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';

interface ProgramTerms {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of its environment but the search path. */
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

interface ProgramEnd {
  /** Null if it was stopped by the time limit. */
  readonly code: number | null;
  /** What it wrote to stdout and stderr, up to a limit. */
  readonly output: string;
}

const OUTPUT_CHARS_MAX = 1_000_000;

/** Runs a program in a process group of its own, and ends the group with it. */
export function runProgram({ program, args, cwd, env, limitMs }: ProgramTerms): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const child = spawn(program, args, {
      cwd,
      env: { PATH: path, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (chunk: string): void => {
      if (output.length < OUTPUT_CHARS_MAX) output += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const stop = (): void => endGroup(child.pid);
    const timer = setTimeout(stop, limitMs);
    process.once('exit', stop);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      process.removeListener('exit', stop);
      // Something that it started may still hold its output open.
      stop();
      child.once('close', () => resolve({ code, output }));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid !== undefined) endProcess(-pid);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ends processes that left their group, by the home folder in their environment; returns their ids. Only Linux lists it. */
export function endStragglers(home: string): number[] {
  const found = processIds().filter((pid) => environmentOf(pid).includes(`HOME=${home}`));
  for (const pid of found) endProcess(pid);
  return found;
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
