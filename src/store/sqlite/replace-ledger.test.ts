import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { databaseFile } from './database.ts';
import { migrate } from './migrate.ts';
import { draftPath, finishReplacement, raiseGeneration, replaceLedger } from './replace-ledger.ts';

const copies = vi.hoisted(() => ({ isCut: false }));

/** A file system without links, on which a copy can be cut in the middle. */
vi.mock('node:fs', async (load) => {
  const real = await load<typeof fs>();
  const linkSync = () => {
    throw new Error('EPERM');
  };
  const copyFileSync = (from: string, to: string, mode?: number) => {
    if (!copies.isCut) return real.copyFileSync(from, to, mode);
    real.writeFileSync(to, real.readFileSync(from).subarray(0, 100));
    throw new Error('The power is gone.');
  };
  return { ...real, linkSync, copyFileSync };
});

function makeLedger(file: string, finish: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file, { readBigInts: true });
  migrate(database);
  finish(database);
  database.close();
}

test('keeps the whole old ledger although its copy was interrupted', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'tollgate-replace-'));
  makeLedger(databaseFile(folder), () => undefined);
  const before = fs.readFileSync(databaseFile(folder));
  let generation = 0n;
  makeLedger(draftPath(folder), (database) => {
    generation = raiseGeneration(database, folder);
  });
  copies.isCut = true;
  expect(() => replaceLedger(folder, generation, 'kept')).toThrow('The power is gone.');
  copies.isCut = false;
  finishReplacement(folder);
  expect(fs.readFileSync(databaseFile(join(folder, 'kept'))).equals(before)).toBe(true);
  fs.rmSync(folder, { recursive: true });
});
