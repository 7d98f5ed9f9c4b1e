import { EXIT } from '../cli/exit-codes.ts';
import type { Config } from '../config/config.ts';
import { WorkerFailed } from './workers/worker-thread.ts';

/** Why the gateway did not start, for the person who started it. */
interface StartFailure {
  readonly message: string;
  readonly exitCode: number;
}

/** Errors that explain themselves, by name, because those of another worker arrive without their class. */
const EXPLAINED: Readonly<Record<string, number>> = {
  FolderInUse: EXIT.unreachable,
  StoreRefused: EXIT.unreachable,
  StoreUnavailable: EXIT.unreachable,
  FolderMoved: EXIT.moved,
  MasterKeyError: EXIT.usage,
  MasterKeyCommandFailed: EXIT.unreachable,
  WorkersRefused: EXIT.usage,
};

/** Null for a failure that nobody expected. */
export function describeStartFailure(error: unknown, config: ListenConfig): StartFailure | null {
  if (!(error instanceof Error)) return null;
  const { name, message, cause } = error;
  if (error instanceof WorkerFailed) return describeStartFailure(cause, config);
  const exitCode = EXPLAINED[name];
  if (exitCode !== undefined) return { message, exitCode };
  const problem = listenProblem(error, config);
  return problem === null ? null : { message: problem, exitCode: EXIT.cannotListen };
}

type ListenConfig = Pick<Config, 'hosted' | 'console' | 'listen'>;

interface ListenError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
}

function listenProblem(error: ListenError, config: ListenConfig): string | null {
  const { code, syscall, port, address, hostname } = error;
  if (syscall === 'getaddrinfo')
    return `The name ${hostname} of the address to listen on cannot be resolved (${code}). Choose another with ${flagOfHost(hostname, config)}.`;
  if (syscall !== 'listen') return null;
  const place = `Port ${port} on ${address}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${place} is in use. Stop the process that uses it, or choose another with ${flagOfPort(port, config)}.`;
    case 'EACCES':
      return `${place} is not open to this user (EACCES). Choose one above 1023 with ${flagOfPort(port, config)}, or allow this user to listen on it.`;
    case 'EADDRNOTAVAIL':
      return `${address} is not an address of this machine, so the gateway cannot listen there. Choose another with ${flagOfHost(address, config)}.`;
    default:
      return `${place} cannot be listened on (${code}). Choose another with ${flagOfPort(port, config)}.`;
  }
}

function flagOfPort(port: number | undefined, config: ListenConfig): string {
  const { hosted, listen } = config;
  if (hosted && port === listen.operationsPort) return '--operations-port';
  return config.console && port === listen.consolePort ? '--console-port' : '--port';
}

function flagOfHost(host: string | undefined, { hosted, listen }: ListenConfig): string {
  return hosted && host === listen.operationsHost && host !== listen.host ? '--operations-host' : '--host';
}
