import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseJson } from '../../json/json.ts';
import { syncPath } from './database.ts';

function movedFile(folder: string): string {
  return join(folder, 'moved.json');
}

/** Marks a folder whose ledger has moved. The new place is named without a password. */
export function markMoved(folder: string, to: string, nowMs: number): void {
  const file = movedFile(folder);
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify({ to, at: new Date(nowMs).toISOString() })}\n`, { mode: 0o600 });
  syncPath(draft);
  renameSync(draft, file);
  syncPath(folder);
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
  const isRead = typeof mark === 'object' && mark !== null && 'to' in mark && typeof mark.to === 'string';
  return isRead ? (mark as { to: string }).to : 'another place';
}
