import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseJson } from '../../json/json.ts';
import { syncPath } from './backup.ts';

function movedFile(folder: string): string {
  return join(folder, 'moved.json');
}

/** Says of a folder that its books are kept elsewhere now; the place is named for people, without a password. */
export function markMoved(folder: string, to: string, nowMs: number): void {
  const file = movedFile(folder);
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify({ to, at: new Date(nowMs).toISOString() })}\n`, { mode: 0o600 });
  syncPath(draft);
  renameSync(draft, file);
  syncPath(folder);
}

/** Why nobody may work on the books of that folder, and what to do; null where they have not moved. */
export function whyMoved(folder: string): string | null {
  const file = movedFile(folder);
  if (!existsSync(file)) return null;
  return (
    `The books of ${folder} have moved to ${readPlace(file)}: work on them there, by TOLLGATE_STORE or --store; ` +
    `to go back on purpose, stop all processes that work on them there and delete ${file}.`
  );
}

/** A mark that cannot be read is still one. */
function readPlace(file: string): string {
  const mark = tryParseJson(readFileSync(file, 'utf8'));
  const isRead = typeof mark === 'object' && mark !== null && 'to' in mark && typeof mark.to === 'string';
  return isRead ? (mark as { to: string }).to : 'another place';
}
