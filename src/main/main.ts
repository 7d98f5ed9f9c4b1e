import { runCli } from '../cli/run.ts';
import { processEnvironment } from '../config/config.ts';
import { systemClock } from '../kit/clock.ts';
import { compose } from './compose.ts';

/** Runs one command line of this process; resolves to the exit code. */
export function main(argv: readonly string[]): Promise<number> {
  const terminal = {
    writeOut: (text: string) => void process.stdout.write(text),
    writeErr: (text: string) => void process.stderr.write(text),
    isLive: process.stderr.isTTY === true,
  };
  return runCli(argv, processEnvironment(), compose({ terminal, cwd: process.cwd(), clock: systemClock }));
}
