import { spawn } from 'node:child_process';
import type { ArchiveStep } from '../../src/store/receipt-archive.ts';
import { processEnvironment } from '../process-environment.ts';
import { scriptOf } from '../programs.ts';

export interface VictimTerms {
  readonly engine: 'sqlite' | 'postgres';
  /** The data folder, or the URL of the database. */
  readonly place: string;
  /** Where the files of the archive go. */
  readonly folder: string;
  readonly beforeMs: number;
  readonly nowMs: number;
  /** The process is killed when it reaches this step for the `count`th time. */
  readonly step: ArchiveStep;
  readonly count: number;
}

/** Archives receipts in a process of its own, which is killed at that step. Throws if it ended in another way. */
export function killedArchive(terms: VictimTerms): Promise<void> {
  return new Promise((done, fail) => {
    const args = ['--no-warnings', scriptOf('campaigns/archive/victim.ts'), JSON.stringify(terms)];
    const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
    const child = spawn(process.execPath, args, { stdio, env: processEnvironment(terms.folder) });
    let complaint = '';
    child.stderr.on('data', (chunk) => (complaint += chunk));
    child.once('error', fail);
    child.once('close', (code, signal) =>
      signal === 'SIGKILL' ? done() : fail(new Error(`The run was not killed, but ended with ${code}: ${complaint}`)),
    );
  });
}
