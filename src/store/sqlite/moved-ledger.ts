import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { tryParseJson } from '../../json/json.ts';
import { syncPath } from './database.ts';
import { writeMeta } from './meta.ts';

function movedFile(folder: string): string {
  return join(folder, 'moved.json');
}

/** Stays behind when an operator returns to the folder: its jobs may have run in the other place. */
function returnFile(folder: string): string {
  return join(folder, 'moved-jobs');
}

/** Marks a folder whose ledger has moved. The new place is named without a password. */
export function markMoved(folder: string, to: string, nowMs: number): void {
  writeFileSync(returnFile(folder), '', { mode: 0o600 });
  syncPath(returnFile(folder));
  const file = movedFile(folder);
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify({ to, at: new Date(nowMs).toISOString() })}\n`, { mode: 0o600 });
  syncPath(draft);
  renameSync(draft, file);
  syncPath(folder);
}

/** If the ledger had moved and is used here again: makes the next registration pause the jobs. */
export function noteReturn(database: DatabaseSync, folder: string): void {
  if (!existsSync(returnFile(folder)) || existsSync(movedFile(folder))) return;
  // No generation has this number.
  writeMeta(database, 'jobs_generation', 0n);
  rmSync(returnFile(folder), { force: true });
}

/** Why the ledger in that folder may not be used, and what to do; null if it has not moved. */
export function whyMoved(folder: string): string | null {
  const file = movedFile(folder);
  if (!existsSync(file)) return null;
  return (
    `The ledger in ${folder} has moved to ${readPlace(file)}. Use it there, with TOLLGATE_STORE or --store. ` +
    `To return to this folder, stop all processes that use the new place and delete ${file}.`
  );
}

/** An unreadable mark still counts. */
function readPlace(file: string): string {
  const mark = tryParseJson(readFileSync(file, 'utf8'));
  if (typeof mark === 'object' && mark !== null && 'to' in mark && typeof mark.to === 'string') return mark.to;
  return 'another place';
}
