import { isatty } from 'node:tty';

const STANDARD_FDS = [0, 1, 2];

/**
 * Resolves when the process should drain and end: on SIGTERM, on SIGINT, and on a SIGHUP that comes because the terminal
 * it was started on is gone. Any other SIGHUP reloads.
 */
export function stopSignal(reload: () => void): Promise<void> {
  const terminalFds = STANDARD_FDS.filter((fd) => isatty(fd));
  const isTerminalGone = (): boolean => terminalFds.length > 0 && !terminalFds.some((fd) => isatty(fd));
  // Writing to a terminal that is gone fails; an unhandled failure would end the process before it has drained.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
    process.on('SIGHUP', () => (isTerminalGone() ? resolve() : reload()));
  });
}
