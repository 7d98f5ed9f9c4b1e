import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { openAll } from '../kit/cleanup.ts';
import type { Clock } from '../kit/clock.ts';
import { ID_NUMBERS, IdSource } from '../kit/ids.ts';
import { reasonOf } from '../ledger/admission.ts';
import { Heartbeat, type InstanceEvent } from '../ledger/heartbeat.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { OnTrouble } from '../ledger/trouble-report.ts';
import { LIMITS } from '../limits.ts';
import type { BackUp } from '../store/backup.ts';
import { refusingFaults } from '../store/sqlite/faults.ts';
import { type Holder, lockFolder } from '../store/sqlite/lock.ts';
import { whyMoved } from '../store/sqlite/moved-ledger.ts';
import type { WriterPort } from '../store/sqlite/store-links.ts';
import type { Instance, Store, StoreHealth } from '../store/store.ts';

/** The open store, with this process registered in it. */
export interface Books {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly ids: IdSource;
  /** That of the ledger: processes that share a database go by its time, and a wrong clock of one of them does no harm. */
  readonly clock: Clock;
  readonly voidedHolds: number;
  /** Why the ledger is read-only: it has moved. Null if it can be changed. */
  readonly moved: string | null;
  /** Null for an engine with its own backup tools. */
  readonly backUp: BackUp | null;
  /** Calls back after the store was put back to an older state: nothing that was read from it before is valid. */
  onReplaced(forget: () => void): void;
  /** The store's health, and whether calls may be admitted. */
  health(): Promise<StoreHealth>;
  /** Publishes this process's address for other processes, and whether its callers need a key. */
  announce(url: string, needsKey: boolean): void;
  /** The highest id of any call; the ids of all workers continue above it. Null if each worker learns it from heartbeats. */
  lastCallId(): Promise<bigint | null>;
  /** Lets another worker of this process use the store; null if it opens the store itself. */
  ticket(): WriterTicket | null;
  close(): Promise<void>;
}

/** How another worker of the process that has a data folder open writes to its ledger. */
export interface WriterTicket {
  readonly writer: WriterPort;
  readonly epoch: bigint;
  readonly number: number;
  readonly lastCallId: bigint;
}

/** Another process has this folder open. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  readonly holder: Holder | null;

  constructor(folder: string, holder: Holder | null) {
    const who =
      holder === null ? 'another process' : `process ${holder.pid}${holder.url === null ? '' : ` at ${holder.url}`}`;
    super(`The data folder ${folder} is in use by ${who}. Stop that process, or choose another folder with --data.`);
    this.holder = holder;
  }
}

/** The ledger of this folder has moved: using both would spend the same money twice. */
export class FolderMoved extends Error {
  override readonly name = 'FolderMoved';
}

interface BooksTerms {
  readonly config: Pick<Config, 'dataFolder' | 'store' | 'retention'>;
  readonly clock: Clock;
  /** Where commands reach this process; null for a command. */
  readonly socketPath: string | null;
  /** Opens a ledger that has moved, for reading; otherwise it is refused. */
  readonly mayHaveMoved?: boolean;
  /** Whether SQLite works in threads of its own (the default); a command, which does one thing, starts faster without. */
  readonly threads?: boolean;
  onFatal(error: Error): void;
  /** Something about the data folder that an operator should know, in one sentence. */
  onNotice?(notice: string): void;
  /** Reports what happens to this process's registration in a shared store. */
  onInstanceEvent?(event: InstanceEvent): void;
  readonly onTrouble?: OnTrouble | undefined;
}

export function openBooks(terms: BooksTerms): Promise<Books> {
  const { store, dataFolder } = terms.config;
  if (store !== null) return openShared(terms, store.url.reveal());
  return refusingFaults(dataFolder, () => openFolder(terms));
}

/** Opens the data folder, locked for this process, after releasing the holds of earlier processes. */
function openFolder(terms: BooksTerms): Promise<Books> {
  const { config, clock, socketPath, mayHaveMoved, threads = true, onFatal, onNotice, onTrouble } = terms;
  const folder = config.dataFolder;
  const holder = { pid: process.pid, url: null, socketPath, startedMs: clock.nowMs() };
  return openAll(async (cleanup) => {
    const lock = lockFolder(folder, holder);
    if ('heldBy' in lock) throw new FolderInUse(folder, lock.heldBy);
    cleanup.add(() => lock.release());
    const moved = whyMoved(folder);
    if (moved !== null && mayHaveMoved !== true) throw new FolderMoved(moved);
    // Loaded on demand: a command that finds a running server does not need it, and starts faster without it.
    const { openSqliteStore } = await import('../store/sqlite/sqlite-store.ts');
    const { archiveFolder } = config.retention;
    const options = { folder, clock, threads, archiveFolder, onFatal };
    const store = await openSqliteStore({ ...options, ...(onNotice && { onNotice }) });
    cleanup.add(() => store.close());
    const instance = moved === null ? await store.beginInstance() : NO_INSTANCE;
    const { epoch } = instance;
    const ledger = new Ledger({ store, clock, epoch, instance: { epoch, whyNotAdmitting: moved }, onTrouble });
    cleanup.add(() => ledger.close());
    await ledger.watchHealth();
    const ids = new IdSource(clock, instance.number);
    ids.continueAbove(instance.lastCallId);
    return {
      store,
      ledger,
      ids,
      clock,
      voidedHolds: instance.voidedHolds,
      moved,
      backUp: async (file, progress) => {
        const { backUp } = await import('../store/sqlite/backup.ts');
        return backUp({ folder, file, clock, ...(progress && { progress }) });
      },
      onReplaced: () => undefined,
      health: () => healthOf(store, ledger, clock),
      announce: (url, needsKey) => lock.describe({ ...holder, url, needsKey }),
      lastCallId: async () => (await store.heartbeat(epoch))?.lastCallId ?? null,
      ticket: () => ({ ...instance, writer: store.connectWriter() }),
      close: () => cleanup.run(),
    };
  });
}

/** What only the worker that has opened a data folder can do, as all others have it. */
const WITHOUT_FOLDER = {
  moved: null,
  backUp: null,
  announce: () => undefined,
  lastCallId: async () => null,
  ticket: () => null,
} satisfies Partial<Books>;

interface JoinTerms {
  readonly config: Pick<Config, 'dataFolder' | 'retention'>;
  readonly clock: Clock;
  readonly ticket: WriterTicket;
  /** Which worker it is; the first, which has opened the folder, is 0. */
  readonly worker: number;
  onFatal(error: Error): void;
  readonly onTrouble?: OnTrouble | undefined;
}

/** Opens the ledger in another worker of the process that has its folder open. They share one epoch and one writer. */
export function joinBooks({ config, clock, ticket, worker, onFatal, onTrouble }: JoinTerms): Promise<Books> {
  const { epoch, number, lastCallId, writer } = ticket;
  return openAll(async (cleanup) => {
    const { joinSqliteStore } = await import('../store/sqlite/sqlite-store.ts');
    const { archiveFolder } = config.retention;
    const store = await joinSqliteStore({
      folder: config.dataFolder,
      clock,
      archiveFolder,
      onFatal,
      writerPort: writer,
    });
    cleanup.add(() => store.close());
    const ledger = new Ledger({ store, clock, epoch, onTrouble });
    cleanup.add(() => ledger.close());
    await ledger.watchHealth();
    // Far from the numbers of other workers and of later processes.
    const ids = new IdSource(clock, (number + (worker * ID_NUMBERS) / LIMITS.workersMax) % ID_NUMBERS);
    ids.continueAbove(lastCallId);
    return {
      store,
      ledger,
      ids,
      clock,
      voidedHolds: 0,
      ...WITHOUT_FOLDER,
      onReplaced: () => undefined,
      health: () => healthOf(store, ledger, clock),
      close: () => cleanup.run(),
    };
  });
}

/** Read-only access must not register an instance: that would count as a change of the ledger. */
const NO_INSTANCE: Instance = { epoch: 0n, number: 0, lastCallId: 0n, voidedHolds: 0, replaced: null };

/** Opens a database that several processes share, each registered separately. */
async function openShared(terms: BooksTerms, url: string): Promise<Books> {
  const { config, onInstanceEvent = () => undefined, onTrouble } = terms;
  // Loaded on demand, because most commands do not need it and start faster without it.
  const { openPostgresStore } = await import('../store/postgres/postgres-store.ts');
  return openAll(async (cleanup) => {
    const { archiveFolder } = config.retention;
    const store = await openPostgresStore({ url, clock: terms.clock, archiveFolder });
    cleanup.add(() => store.close());
    const { clock } = store;
    const forgetting: (() => void)[] = [];
    const onEvent = (event: InstanceEvent): void => {
      onInstanceEvent(event);
      if (event.kind === 'replaced') for (const forget of forgetting) forget();
    };
    const heartbeat = await Heartbeat.begin({ store, clock, onEvent });
    cleanup.add(() => heartbeat.stop());
    const { epoch, voidedHolds } = heartbeat.instance;
    const ledger = new Ledger({
      store,
      clock,
      epoch,
      instance: heartbeat,
      batchesInFlight: LIMITS.postgresLedgerLines,
      onTrouble,
    });
    cleanup.add(() => ledger.close());
    await ledger.watchHealth();
    return {
      store,
      ledger,
      ids: heartbeat.ids,
      clock,
      voidedHolds,
      ...WITHOUT_FOLDER,
      onReplaced: (forget) => void forgetting.push(forget),
      health: () => healthOf(store, ledger, clock),
      close: () => cleanup.run(),
    };
  });
}

/** A store that replies may still admit no call, so the last holds or a test hold decide too. */
async function healthOf(store: Store, ledger: Ledger, clock: Clock): Promise<StoreHealth> {
  const health = await healthInTime(store, clock);
  if (!health.mayAdmit) return health;
  const why = await ledger.whyNotReady();
  return why === null ? health : { ...health, reason: why, mayAdmit: false };
}

/** The store's own health; not healthy if it fails or takes too long to reply. */
function healthInTime(store: Store, clock: Clock): Promise<StoreHealth> {
  return new Promise((resolve) => {
    const sick = (reason: string) => resolve({ ok: false, reason, mayAdmit: false });
    const timer = clock.after(LIMITS.admissionProbeMs, () => sick('The store does not reply.'), { unref: true });
    store
      .health()
      .then(resolve, (error: unknown) => sick(reasonOf(error)))
      .finally(() => timer.cancel());
  });
}

/** In the data folder, unless its path is too long for a socket. */
export function controlSocketPath(folder: string): string {
  const usual = join(folder, 'control.sock');
  if (Buffer.byteLength(usual) <= LIMITS.socketPathBytesMax) return usual;
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  return join(tmpdir(), `tollgate-${name}.sock`);
}
