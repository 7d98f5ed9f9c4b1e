import { EXIT } from '../cli/exit-codes.ts';

/**
 * Ends a command whose output nobody reads any more, like `tollgate models | head -1`, without a word, as other programs
 * do. Output that cannot be written for another reason, like a full disk, is an error. Returns a function that undoes it,
 * for the gateway, which serves on.
 */
export function endWithReader(): () => void {
  const onOutput = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    process.stderr.write(`Cannot write to standard output (${error.code ?? error.message}).\n`);
    process.exit(EXIT.no);
  };
  process.stdout.on('error', onOutput);
  // Messages that nobody can read change nothing about the command.
  process.stderr.on('error', () => {});
  return () => void process.stdout.off('error', onOutput);
}
