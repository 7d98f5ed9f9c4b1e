import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../src/kit/clock.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';

/** The content of each file. In memory, because a process that runs tests is killed at the end and could remove no folder. */
type Template = ReadonlyMap<string, Buffer>;

let template: Promise<Template> | null = null;

/**
 * Puts the files of a ledger that nobody has used yet into a folder. Creating their tables would take three quarters of
 * the CPU time of opening a new ledger. All copies have the same id, so this is not for tests of ledgers that are exchanged.
 */
export async function copyEmptyLedger(folder: string): Promise<void> {
  template ??= createTemplate();
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of await template) writeFileSync(join(folder, name), content, { mode: 0o600 });
}

async function createTemplate(): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-empty-'));
  try {
    const store = await openSqliteStore({ folder, clock: new ManualClock(), threads: false });
    await store.close();
    return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
