import { fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseJson } from '../json/json.ts';
import { compileCacheVariable } from '../kit/compile-cache.ts';

export interface Simulator {
  readonly url: string;
  stop(): void;
}

const SIMULATOR = new URL(`../sim/main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** Starts the simulated upstream as a child process, which ends with this one. */
export async function startSimulator(): Promise<Simulator> {
  const child = fork(SIMULATOR, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env: compileCacheVariable() });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The simulated upstream exited with code ${code}.`)));
    createInterface({ input: child.stdout! }).once('line', (line) => resolve((parseJson(line) as { url: string }).url));
  });
  child.unref();
  child.channel?.unref();
  return { url, stop: () => child.kill('SIGTERM') };
}
