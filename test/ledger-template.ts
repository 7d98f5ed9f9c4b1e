import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../src/kit/clock.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';

let template: Promise<string> | null = null;

/**
 * Puts the files of a ledger that nobody has used yet into a folder. Creating their tables would take three quarters of
 * the CPU time of opening a new ledger. All copies have the same id, so this is not for tests of ledgers that are exchanged.
 */
export async function copyEmptyLedger(folder: string): Promise<void> {
  template ??= createTemplate();
  cpSync(await template, folder, { recursive: true });
}

async function createTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-empty-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const store = await openSqliteStore({ folder, clock: new ManualClock(), threads: false });
  await store.close();
  return folder;
}
