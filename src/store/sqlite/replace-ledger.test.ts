import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { databaseFile } from './database.ts';
import { migrate } from './migrate.ts';
import { draftPath, finishReplacement, raiseGeneration, replaceLedger } from './replace-ledger.ts';

/** A file system without links, on which every copy is cut in the middle. Other tests of this process get the real one back. */
function cutCopies(): void {
  const { readFileSync, writeFileSync } = fs;
  vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw new Error('EPERM');
  });
  vi.spyOn(fs, 'copyFileSync').mockImplementation((from, to) => {
    writeFileSync(to, readFileSync(from).subarray(0, 100));
    throw new Error('The power is gone.');
  });
  syncBuiltinESMExports();
}

function cutNothing(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

afterEach(cutNothing);

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
  cutCopies();
  expect(() => replaceLedger(folder, generation, 'kept')).toThrow('The power is gone.');
  cutNothing();
  finishReplacement(folder);
  expect(fs.readFileSync(databaseFile(join(folder, 'kept'))).equals(before)).toBe(true);
  fs.rmSync(folder, { recursive: true });
});
