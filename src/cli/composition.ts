import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../kit/clock.ts';
import type { VerifyProgress } from '../ledger/ledger.ts';
import type { OperatorServices } from '../operator/operator.ts';
import type { CopiedView, CopyProgress, CopyView, RestoreView } from '../operator/store.ts';
import type { Finding } from './finding.ts';

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
  /** Moves books into another engine, or says why not. */
  copyStore(terms: CopyTerms): Promise<CopyView | CopiedView | Refused>;
  /** Puts a backup in the place of the books in a folder, or says why not. */
  restoreStore(terms: RestoreTerms): Promise<RestoreView | Refused>;
  /** What would keep processes from sharing that database; nothing in it is changed. */
  examineDatabase(place: NonNullable<Config['store']>): Promise<Finding[]>;
  /** Brings the tables of that database up to date; gives the steps that were taken. */
  migrateDatabase(place: NonNullable<Config['store']>): Promise<string[]>;
  /** The same config with the local hosts that were found, and what they serve. */
  lookForHosts(config: Config): Promise<Config>;
  /** The models that a server with this config would know. */
  catalogFor(config: Config): Catalog;
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

export interface CopyTerms {
  /** An absolute path. */
  readonly from: string;
  readonly to: string;
  progress(done: CopyProgress): void;
}

export interface RestoreTerms {
  /** Absolute paths. */
  readonly file: string;
  readonly folder: string;
  readonly force: boolean;
  progress(done: VerifyProgress): void;
}

/** Nothing was done, for this reason. */
export interface Refused {
  readonly refused: string;
  /** The books could not be reached at all. */
  readonly unreachable?: boolean;
}

/** Data goes out, talk goes to the side. */
export interface Terminal {
  writeOut(text: string): void;
  writeErr(text: string): void;
  /** Whether a person watches the side, so that a line may be written over. */
  readonly isLive?: boolean;
}
