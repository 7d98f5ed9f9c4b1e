import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { processEnvironment } from '../../campaigns/process-environment.ts';
import { BIN } from '../../campaigns/programs.ts';

/** `tollgate serve` in local mode, in a process of its own, as somebody starts it. */
export interface LocalGateway {
  readonly url: string;
  readonly token: string;
  /** From the start of the process until it says where it listens. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

export async function startLocalGateway(folder: string): Promise<LocalGateway> {
  const startedMs = performance.now();
  const args = ['serve', '--json', '--port', '0', '--log-level', 'error', '--data', folder];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: processEnvironment(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += chunk));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { url: said } = JSON.parse(line) as { url?: string };
      if (said !== undefined) resolve(said);
    });
    void ended.then(() => reject(new Error(`The gateway did not start: ${complaint}`)));
  });
  return {
    url,
    readyMs: performance.now() - startedMs,
    token: readFileSync(join(folder, 'console.token'), 'utf8').trim(),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
