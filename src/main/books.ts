import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { Ledger } from '../ledger/ledger.ts';
import { Life, type LifeEvent } from '../ledger/life.ts';
import { LIMITS } from '../limits.ts';
import type { BackUp } from '../store/backup.ts';
import { backUp } from '../store/sqlite/backup.ts';
import { type Holder, lockFolder } from '../store/sqlite/lock.ts';
import { whyMoved } from '../store/sqlite/moved.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Instance, Store, StoreHealth } from '../store/store.ts';

/** The store, open, with this process's life in it begun. */
export interface Books {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly ids: IdSource;
  readonly voidedHolds: number;
  /** Why these books can only be read: they are kept elsewhere. Null for books that can be worked on. */
  readonly moved: string | null;
  /** Null where the engine has its own ways to do it. */
  readonly backUp: BackUp | null;
  /** How the store is, and whether calls may come in. */
  health(): Promise<StoreHealth>;
  /** Tells other processes how to reach this one. */
  announce(url: string): void;
  close(): Promise<void>;
}

/** Another process works on this folder; it says who, as far as is known. */
export class FolderHeld extends Error {
  override readonly name = 'FolderHeld';
  readonly holder: Holder | null;

  constructor(folder: string, holder: Holder | null) {
    const who =
      holder === null ? 'another process' : `process ${holder.pid}${holder.url === null ? '' : ` at ${holder.url}`}`;
    super(`The data folder ${folder} is in use by ${who}. Stop it first, or choose another folder with --data.`);
    this.holder = holder;
  }
}

/** The books of this folder are kept elsewhere: to work on both would spend the same money twice. */
export class FolderMoved extends Error {
  override readonly name = 'FolderMoved';
}

export interface BooksTerms {
  readonly config: Pick<Config, 'dataFolder' | 'store'>;
  readonly clock: Clock;
  /** Where operators' commands reach this process; null for one that is soon done. */
  readonly socketPath: string | null;
  /** Books that have moved are refused, unless they are only read. */
  readonly mayHaveMoved?: boolean;
  onFatal(error: Error): void;
  /** What became of this process's life among others, where there are others. */
  onLife?(event: LifeEvent): void;
}

export function openBooks(terms: BooksTerms): Promise<Books> {
  const { store } = terms.config;
  return store === null ? openFolder(terms) : openShared(terms, store.url.reveal());
}

/** The data folder, held by this process alone; the holds of its earlier lives were given back. */
async function openFolder({ config, clock, socketPath, mayHaveMoved, onFatal }: BooksTerms): Promise<Books> {
  const folder = config.dataFolder;
  const holder = { pid: process.pid, url: null, socketPath, startedMs: clock.nowMs() };
  const lock = lockFolder(folder, holder);
  if ('heldBy' in lock) throw new FolderHeld(folder, lock.heldBy);
  try {
    const moved = whyMoved(folder);
    if (moved !== null && mayHaveMoved !== true) throw new FolderMoved(moved);
    const store = await openSqliteStore({ folder, clock, onFatal });
    const instance = moved === null ? await store.beginInstance() : NO_LIFE;
    const { epoch } = instance;
    const ledger = new Ledger({ store, clock, epoch, life: { epoch, whyNotAdmitting: moved } });
    await ledger.watchHealth();
    return {
      store,
      ledger,
      ids: new IdSource(clock, instance.number),
      voidedHolds: instance.voidedHolds,
      moved,
      backUp: (file, progress) => backUp({ folder, file, clock, ...(progress && { progress }) }),
      health: () => healthOf(store, ledger),
      announce: (url) => lock.describe({ ...holder, url }),
      close: async () => {
        await ledger.close();
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Of who only reads: a life of its own would say that the books have been used. */
const NO_LIFE: Instance = { epoch: 0n, number: 0, voidedHolds: 0 };

/** A database that any number of processes share, each with a life of its own. */
async function openShared({ clock, onLife = () => undefined }: BooksTerms, url: string): Promise<Books> {
  // Loaded only where it is needed: most commands are over sooner without.
  const { openPostgresStore } = await import('../store/postgres/postgres-store.ts');
  const store = await openPostgresStore({ url, clock });
  try {
    const life = await Life.begin({ store, clock, onEvent: onLife });
    const { epoch, voidedHolds } = life.instance;
    const ledger = new Ledger({ store, clock, epoch, life, batchesInFlight: LIMITS.postgresLedgerLines });
    await ledger.watchHealth();
    return {
      store,
      ledger,
      ids: life.ids,
      voidedHolds,
      moved: null,
      backUp: null,
      health: () => healthOf(store, ledger),
      announce: () => undefined,
      close: async () => {
        await ledger.close();
        life.stop();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A store may be well again before the ledger has heard of it; until then nobody should be sent here. */
async function healthOf(store: Store, ledger: Ledger): Promise<StoreHealth> {
  const health = await store.health();
  const why = ledger.whyNotAdmitting;
  return health.mayAdmit && why !== null ? { ...health, reason: why, mayAdmit: false } : health;
}

/** In the data folder, unless its path is longer than a socket's may be. */
export function controlSocketPath(folder: string): string {
  const usual = join(folder, 'control.sock');
  if (Buffer.byteLength(usual) <= LIMITS.socketPathBytesMax) return usual;
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  return join(tmpdir(), `tollgate-${name}.sock`);
}
