import { programName } from '../cli/program-name.ts';
import { runCli } from '../cli/run.ts';
import { processEnvironment } from '../config/config.ts';
import { systemClock } from '../kit/clock.ts';
import { endWithReader } from './closed-output.ts';
import { compose } from './compose.ts';
import type { EarlyHangups } from './signals.ts';
import { isForegroundOfNpm } from './started-by-npm.ts';

/** Runs one command line of this process; resolves to the exit code. */
export function main(argv: readonly string[], hangups: EarlyHangups | null = null): Promise<number> {
  const terminal = {
    writeOut: (text: string) => void process.stdout.write(text),
    writeErr: (text: string) => void process.stderr.write(text),
    isLive: process.stderr.isTTY === true,
    columns: () => process.stderr.columns,
  };
  const env = processEnvironment();
  const cwd = process.cwd();
  const program = programName({ env, script: process.argv[1] ?? null, cwd });
  const followsParent = isForegroundOfNpm(env);
  const composition = compose({ program, terminal, cwd, clock: systemClock, followsParent, hangups });
  const serveOn = endWithReader();
  const serve: typeof composition.serve = (...given) => {
    serveOn();
    return composition.serve(...given);
  };
  return runCli(argv, env, { ...composition, serve });
}
