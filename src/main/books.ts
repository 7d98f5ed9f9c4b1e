import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { type Holder, lockFolder } from '../store/sqlite/lock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';

/** The data folder, held by this process alone, with its store open and its earlier lives' holds given back. */
export interface Books {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly ids: IdSource;
  readonly voidedHolds: number;
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

export interface BooksTerms {
  readonly folder: string;
  readonly clock: Clock;
  /** Where operators' commands reach this process; null for one that is soon done. */
  readonly socketPath: string | null;
  onFatal(error: Error): void;
}

export async function openBooks({ folder, clock, socketPath, onFatal }: BooksTerms): Promise<Books> {
  const holder = { pid: process.pid, url: null, socketPath, startedMs: clock.nowMs() };
  const lock = lockFolder(folder, holder);
  if ('heldBy' in lock) throw new FolderHeld(folder, lock.heldBy);
  try {
    const store = await openSqliteStore({ folder, clock, onFatal });
    const instance = await store.beginInstance();
    const ledger = new Ledger({ store, clock, epoch: instance.epoch });
    await ledger.watchHealth();
    return {
      store,
      ledger,
      ids: new IdSource(clock, instance.number),
      voidedHolds: instance.voidedHolds,
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

/** In the data folder, unless its path is longer than a socket's may be. */
export function controlSocketPath(folder: string): string {
  const usual = join(folder, 'control.sock');
  if (Buffer.byteLength(usual) <= LIMITS.socketPathBytesMax) return usual;
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  return join(tmpdir(), `tollgate-${name}.sock`);
}
