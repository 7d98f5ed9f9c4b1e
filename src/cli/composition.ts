import type { Config } from '../config.ts';
import type { OperatorServices } from '../gateway/operator.ts';
import type { Clock } from '../kit/clock.ts';

/** The process that has a data folder to itself, as it said when it took it. */
export interface Holder {
  readonly pid: number;
  /** Both null for a command that opened the books itself and will soon be done. */
  readonly url: string | null;
  readonly socketPath: string | null;
  readonly startedMs: number;
}

export interface OpenServices {
  readonly services: OperatorServices;
  close(): Promise<void>;
}

/** The folder belongs to another process; null where that one did not say who it is. */
export interface FolderHeld {
  readonly heldBy: Holder | null;
}

/** What the command line is given by main: it builds no service and knows no engine itself. */
export interface Composition {
  /** Serves until told to stop; the answer is the exit code. */
  serve(config: Config, options: ServeOptions): Promise<number>;
  /** Takes the data folder and opens its store, or says who has it. */
  openServices(config: Config): Promise<OpenServices | FolderHeld>;
  /** The same config with the local hosts that were found, and what they serve. */
  lookForHosts(config: Config): Promise<Config>;
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly clock: Clock;
}

export interface ServeOptions {
  /** The ready line goes to stdout as JSON. */
  readonly json: boolean;
  /** Reads file and environment again, under the same flags; throws a ConfigError. */
  reloadConfig(): Config;
}

/** Data goes out, talk goes to the side. */
export interface Terminal {
  writeOut(text: string): void;
  writeErr(text: string): void;
}
