import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../src/store/memory.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { OpenStore } from './store-fixtures.ts';

export const openMemory: OpenStore = async (clock) => {
  const store = new MemoryStore(clock);
  return { store, reopen: async () => store, dispose: () => store.close() };
};

export const openSqlite: OpenStore = async (clock) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'tollgate-store-')), 'data');
  let store = await openSqliteStore({ folder, clock });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openSqliteStore({ folder, clock });
      return store;
    },
    dispose: async () => {
      await store.close();
      rmSync(join(folder, '..'), { recursive: true });
    },
  };
};
