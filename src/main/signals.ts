import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Clock } from '../kit/clock.ts';

/** SIGHUP before the code of the gateway was loaded, as the launcher has seen it. */
export interface EarlyHangups {
  /** The standard streams that were a terminal when the process began. */
  readonly terminalFds: readonly number[];
  /** Ends the launcher's own handling of it; true if a reload was asked for. */
  take(): boolean;
}

interface SignalTerms {
  readonly clock: Clock;
  /** Whether to stop when the parent process ends, which is the effect of a signal that was sent to npm. */
  readonly followsParent: boolean;
  readonly hangups?: EarlyHangups | null;
  reload(): void;
}

const STANDARD_FDS = [0, 1, 2];
/** Under npm, Ctrl-C arrives twice: from the terminal and from npm. Both mean one stop. */
const SAME_STOP_MS = 1_000;
const PARENT_CHECK_MS = 250;

/**
 * Resolves when the process should drain and end: on SIGTERM, on SIGINT, and on a SIGHUP that comes because the terminal
 * it was started on is gone. Any other SIGHUP reloads. A later SIGTERM or SIGINT ends the process at once. Resolves to the
 * exit code of a process that has nothing to drain yet.
 */
export function stopSignal({ clock, followsParent, hangups, reload }: SignalTerms): Promise<number> {
  const terminalFds = hangups?.terminalFds ?? STANDARD_FDS.filter((fd) => isatty(fd));
  const isTerminalGone = (): boolean => terminalFds.length > 0 && !terminalFds.some((fd) => isatty(fd));
  // Writing to a terminal that is gone fails; an unhandled failure would end the process before it has drained.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return new Promise((resolve) => {
    let stoppedAtMs: number | null = null;
    const stop = (signal: NodeJS.Signals): void => {
      const code = 128 + constants.signals[signal];
      if (stoppedAtMs === null) {
        stoppedAtMs = clock.monotonicMs();
        resolve(code);
      } else if (clock.monotonicMs() - stoppedAtMs > SAME_STOP_MS) process.exit(code);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    process.on('SIGHUP', () => (isTerminalGone() ? stop('SIGHUP') : reload()));
    if (hangups?.take()) reload();
    if (followsParent) whenParentEnds(clock, () => stop('SIGTERM'));
  });
}

/** The parent of an orphan is another process, so a new parent means that the first one has ended. */
function whenParentEnds(clock: Clock, run: () => void): void {
  const parent = process.ppid;
  const look = (): void => {
    if (process.ppid !== parent) run();
    else clock.after(PARENT_CHECK_MS, look, { unref: true });
  };
  look();
}
