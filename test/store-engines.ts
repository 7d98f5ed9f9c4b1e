import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ManualClock } from '../src/kit/clock.ts';
import { MemoryStore } from '../src/store/memory/memory-store.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { emptySchema } from './postgres.ts';
import type { OpenStore, StoreUnderTest } from './store-fixtures.ts';

export const openMemory: OpenStore = async (clock) => {
  const store = new MemoryStore(clock);
  return { store, reopen: async () => store, dispose: () => store.close() };
};

/** As the server runs it. */
export const openSqlite: OpenStore = (clock) => openSqliteIn(clock, true);
/** As a command runs it, which is faster for small tests. */
export const openSqliteInline: OpenStore = (clock) => openSqliteIn(clock, false);

async function openSqliteIn(clock: ManualClock, threads: boolean): Promise<StoreUnderTest> {
  const folder = join(mkdtempSync(join(tmpdir(), 'tollgate-store-')), 'data');
  await copyEmptyLedger(folder);
  let store = await openSqliteStore({ folder, clock, threads });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openSqliteStore({ folder, clock, threads });
      return store;
    },
    dispose: async () => {
      await store.close();
      rmSync(join(folder, '..'), { recursive: true });
    },
  };
}

export const openPostgres: OpenStore = async (clock) => {
  const { url, giveBack } = await emptySchema();
  let store = await openPostgresStore({ url, clock, databaseTime: false });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openPostgresStore({ url, clock, databaseTime: false });
      return store;
    },
    dispose: async () => {
      await store.close();
      await giveBack();
    },
  };
};
