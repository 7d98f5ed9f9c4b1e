import { isatty } from 'node:tty';

const STANDARD_FDS = [0, 1, 2];

/**
 * Remembers a SIGHUP, which asks a gateway to reload, until the gateway handles it: Node would end the process, and
 * loading the gateway takes most of a second. If the terminal is gone, the process ends as any other would.
 */
export function rememberHangups() {
  const terminalFds = STANDARD_FDS.filter((fd) => isatty(fd));
  let isReloadDue = false;
  const remember = () => {
    if (terminalFds.length === 0 || terminalFds.some((fd) => isatty(fd))) isReloadDue = true;
    else {
      process.off('SIGHUP', remember);
      process.kill(process.pid, 'SIGHUP');
    }
  };
  process.on('SIGHUP', remember);
  return {
    terminalFds,
    /** Stops remembering; says whether a reload was asked for. */
    take() {
      process.off('SIGHUP', remember);
      return isReloadDue;
    },
  };
}
