import { fdatasyncSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { aCredit, NOON_MS } from '../../../test/store-fixtures.ts';
import { LIMITS } from '../../limits.ts';
import { StoreBroken } from './batch.ts';
import { fillBatchBuffer } from './batch-buffer.ts';
import { createFiles, databaseFile, openToRead, openToWrite } from './database.ts';
import { LedgerKeeper } from './ledger-keeper.ts';
import { migrate } from './migrate.ts';
import { WriterMemory } from './writer-memory.ts';
import { type WriterVerbs, writerVerbs } from './writer-verbs.ts';

describe('the write-ahead log', () => {
  let folder: string;
  let database: DatabaseSync;
  let memory: WriterMemory;
  let keeper: LedgerKeeper;
  let sync: Mock<typeof fdatasyncSync>;
  let verbs: WriterVerbs;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
    createFiles(folder);
    database = openToWrite(folder);
    migrate(database);
    memory = new WriterMemory();
    sync = vi.fn(fdatasyncSync);
    keeper = new LedgerKeeper(database, folder, memory, sync);
    verbs = writerVerbs(database, keeper);
    verbs.createAccount({ id: 1n, name: 'a', kind: 'prepaid', createdMs: NOON_MS });
    sync.mockClear();
  });

  afterEach(() => {
    keeper.close();
    database.close();
    rmSync(folder, { recursive: true });
  });

  const credit = (id: bigint) => verbs.apply(fillBatchBuffer([aCredit(id, 10n)]), NOON_MS);
  const logBytes = () => statSync(`${databaseFile(folder)}-wal`).size;

  it('is synced once for each commit, before its outcome is reported, and readers are warned until then', () => {
    const seen: unknown[] = [];
    sync.mockImplementationOnce(() => {
      const reader = openToRead(folder);
      seen.push(memory.isUnsynced, reader.prepare('SELECT count(*) AS credits FROM credit').get());
      reader.close();
    });
    expect(memory.isUnsynced).toBe(false);
    credit(1n);
    expect(seen).toEqual([true, { credits: 1n }]);
    expect(memory.isUnsynced).toBe(false);
    credit(2n);
    expect(sync).toHaveBeenCalledTimes(2);
  });

  it('is not synced for a batch that changes nothing', () => {
    credit(1n);
    credit(1n);
    expect(sync).toHaveBeenCalledTimes(1);
    expect(memory.isUnsynced).toBe(false);
  });

  it('fails the store when it cannot be synced, so that nobody hears of the commit', () => {
    sync.mockImplementationOnce(() => {
      throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' });
    });
    expect(() => credit(1n)).toThrow(StoreBroken);
    expect(memory.isUnsynced).toBe(true);
  });

  it('takes no commit after one that was not synced, so that readers are warned of that one until the end', () => {
    sync.mockImplementationOnce(() => {
      throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' });
    });
    expect(() => credit(1n)).toThrow('A commit was not synced');
    expect(() => credit(2n)).toThrow(StoreBroken);
    expect(memory.isUnsynced).toBe(true);
  });

  it('is overwritten while commits come, and emptied when they have stopped for a while', () => {
    credit(1n);
    keeper.tick();
    const bytes = logBytes();
    credit(2n);
    expect([bytes > 0, logBytes()]).toEqual([true, bytes]);
    for (let tick = 0; tick <= LIMITS.storeLogIdleTicks; tick++) keeper.tick();
    expect(logBytes()).toBe(0);
  });
});
