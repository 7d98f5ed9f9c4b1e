import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config/config.ts';
import type { HostProxy } from '../config/proxies.ts';
import type { Clock } from '../kit/clock.ts';
import type { VerifyProgress } from '../ledger/ledger.ts';
import type { OperatorServices } from '../operator/operator.ts';
import type {
  AcceptLossView,
  CompactView,
  CopiedView,
  CopyProgress,
  CopyView,
  RestoreView,
} from '../operator/store.ts';
import type { Finding } from './finding.ts';
import type { GatewayRequest, GatewayResponse } from './gateway-client.ts';

/** The process that has locked a data folder, as it described itself. */
export interface Holder {
  readonly pid: number;
  /** Both are null for a command that opened the store itself. */
  readonly url: string | null;
  readonly socketPath: string | null;
  readonly startedMs: number;
  /** Whether its callers need a key; absent if unknown. */
  readonly needsKey?: boolean;
}

export interface OpenServices {
  readonly services: OperatorServices;
  close(): Promise<void>;
}

/** Another process has the folder locked; null when it left no description of itself. */
export interface FolderHeld {
  readonly heldBy: Holder | null;
}

/** What main gives to the command line, which builds no services itself. */
export interface Composition {
  /** Serves until a signal stops it; resolves to the exit code. */
  serve(config: Config, options: ServeOptions): Promise<number>;
  /** Locks the data folder and opens its store, or says which process has it. */
  openServices(config: Config): Promise<OpenServices | FolderHeld>;
  /** Whether there is a ledger in the folder, whole or damaged, or a process that is about to make one. */
  hasLedger(folder: string): boolean;
  /** The process that has the data folder open; null if none has. */
  findHolder(folder: string): Promise<Holder | null>;
  /** Copies a ledger into another engine, or says why not. */
  copyStore(terms: CopyTerms): Promise<CopyView | CopiedView | Refused>;
  /** Replaces the ledger in a folder with a backup, or says why not. */
  restoreStore(terms: RestoreTerms): Promise<RestoreView | Refused>;
  /** Lets the ledger in a folder continue without what it has lost, or says why not. */
  acceptLoss(terms: AcceptLossTerms): Promise<AcceptLossView | Refused>;
  /** Gives the space of deleted rows back, or says why not. */
  compactStore(terms: CompactTerms): Promise<CompactView | Refused>;
  /** Checks whether processes can share that database; changes nothing in it. */
  examineDatabase(place: NonNullable<Config['store']>): Promise<Finding[]>;
  /** Creates or upgrades the tables of that database; returns the steps taken. */
  migrateDatabase(place: NonNullable<Config['store']>): Promise<string[]>;
  /** The same config with the local hosts that answered, and their models. */
  lookForHosts(config: Config): Promise<Config>;
  /** Asks hosts that have a key, by a call that costs nothing, whether they accept it. */
  examineKeys(hosts: Config['hosts']): Promise<Finding[]>;
  /** The bytes behind an operator's URL, or why there are none. */
  download(url: URL): Promise<Buffer | Refused>;
  /** Sends a request to a gateway on another machine through a proxy. */
  sendThroughProxy(proxy: HostProxy, request: GatewayRequest): Promise<GatewayResponse>;
  /** The models that a server with this config would serve. */
  catalogFor(config: Config): Catalog;
  /** How the user started this program, like `npx tollgate`. */
  readonly program: string;
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly clock: Clock;
}

interface ServeOptions {
  /** The ready line goes to stdout as JSON. */
  readonly json: boolean;
  /** Reads the file and the environment again, with the same flags; throws a ConfigError. */
  reloadConfig(): Config;
}

export interface CopyTerms {
  /** Absolute. */
  readonly from: string;
  readonly to: string;
  progress(done: CopyProgress): void;
}

export interface RestoreTerms {
  /** Both absolute. */
  readonly file: string;
  readonly folder: string;
  readonly force: boolean;
  progress(done: VerifyProgress): void;
}

export interface AcceptLossTerms {
  /** Absolute. */
  readonly folder: string;
  /** How many receipts the operator says are missing; null only reports the number. */
  readonly receipts: bigint | null;
}

export interface CompactTerms {
  /** Null: the ledger is in the folder. */
  readonly store: Config['store'];
  /** Absolute. */
  readonly folder: string;
  progress(done: VerifyProgress): void;
}

/** Nothing was done, for this reason. */
export interface Refused {
  readonly refused: string;
  /** The store could not be opened at all. */
  readonly unreachable?: boolean;
}

/** Data goes to stdout, messages to stderr. */
export interface Terminal {
  writeOut(text: string): void;
  writeErr(text: string): void;
  /** Whether stderr is a terminal, so that a line can be overwritten. */
  readonly isLive?: boolean;
  /** How wide stderr is now; undefined unless it is a terminal. */
  columns?(): number | undefined;
}
