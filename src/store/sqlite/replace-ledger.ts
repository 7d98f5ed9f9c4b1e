import { copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { tryParseJson } from '../../json/json.ts';
import { makeFolder } from '../../kit/make-folder.ts';
import { StoreRefused } from '../store.ts';
import { databaseFile, syncPath } from './database.ts';
import { progressOf } from './lost-commits.ts';
import { createMark, markPath, readMark } from './mark-file.ts';
import { writeMeta } from './meta.ts';
import { readProgress } from './progress.ts';

/** Describes a replacement. It is synced before the replacement begins, so that the next start can finish it. */
interface Intent {
  /** The generation of the new database. */
  readonly generation: string;
  /** Where the files of that one go; null if there is none, or if it is not kept. */
  readonly keptIn: string | null;
}

const SIDE_FILES = ['-wal', '-shm'];

/** A database that is to become the ledger of a folder is prepared under this name. */
export function draftPath(folder: string): string {
  return join(folder, 'replacement.sqlite');
}

function intentPath(folder: string): string {
  return join(folder, 'replacement.json');
}

/** Deletes a replacement that was prepared but not begun; the current ledger stays. */
export function removeDraft(folder: string): void {
  const draft = draftPath(folder);
  for (const path of [intentPath(folder), draft, `${draft}-journal`, `${draft}-wal`, `${draft}-shm`])
    rmSync(path, { force: true });
}

/** For a replacement that failed: the next start finishes one that was begun, and any other would only fill the disk. */
export function removeUnlessBegun(folder: string): void {
  if (!existsSync(intentPath(folder))) removeDraft(folder);
}

/** Gives the draft the next generation: the numbers of the mark that is there no longer apply to it. */
export function raiseGeneration(database: DatabaseSync, folder: string): bigint {
  const mark = readMark(folder);
  const known = [readProgress(database).generation, typeof mark === 'string' ? 0n : mark.generation];
  const generation = known.reduce((a, b) => (a > b ? a : b)) + 1n;
  writeMeta(database, 'generation', generation);
  return generation;
}

/** Puts the closed draft into the ledger's place; returns where the old files are kept. Null for the name deletes them. */
export function replaceLedger(folder: string, generation: bigint, keptAs: string | null): string | null {
  const isKept = keptAs !== null && existsSync(databaseFile(folder));
  const intent: Intent = { generation: generation.toString(), keptIn: isKept ? join(folder, keptAs) : null };
  syncPath(draftPath(folder));
  const written = `${intentPath(folder)}.new`;
  writeFileSync(written, `${JSON.stringify(intent)}\n`, { mode: 0o600 });
  syncPath(written);
  renameSync(written, intentPath(folder));
  syncPath(folder);
  finishReplacement(folder);
  return intent.keptIn;
}

/** Finishes a replacement that was begun; any of its steps may be done already. Deletes one that was not begun. */
export function finishReplacement(folder: string): void {
  removeUnlessBegun(folder);
  if (!existsSync(intentPath(folder))) return;
  const intent = readIntent(folder);
  if (intent !== null && existsSync(draftPath(folder))) putInPlace(folder, intent);
  const found = progressOf(folder);
  if (found.generation.toString() !== intent?.generation) {
    throw new StoreRefused(
      `A restore into ${folder} was interrupted and cannot be finished: run "tollgate store restore FILE --force" again.`,
    );
  }
  createMark(folder, found);
  rmSync(intentPath(folder));
  syncPath(folder);
}

function putInPlace(folder: string, { keptIn }: Intent): void {
  const file = databaseFile(folder);
  if (keptIn !== null) keepAside(folder, keptIn);
  // A log that was left behind would be read into the new database.
  for (const side of SIDE_FILES) rmSync(file + side, { force: true });
  renameSync(draftPath(folder), file);
  syncPath(folder);
}

/** The old ledger gets a folder of its own, from which a server can be started; its file stays in place until replaced. */
function keepAside(folder: string, aside: string): void {
  const file = databaseFile(folder);
  makeFolder(aside);
  if (!existsSync(databaseFile(aside))) linkOrCopy(file, databaseFile(aside));
  if (existsSync(markPath(folder))) copyFileSync(markPath(folder), markPath(aside));
  syncPath(aside);
  for (const side of SIDE_FILES) {
    if (existsSync(file + side)) renameSync(file + side, databaseFile(aside) + side);
  }
  syncPath(aside);
  syncPath(folder);
}

function linkOrCopy(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch {
    // Under its own name only when it is whole: what is there counts as kept when an interrupted replacement is finished.
    const part = `${to}.part`;
    copyFileSync(file, part);
    syncPath(part);
    renameSync(part, to);
  }
}

function readIntent(folder: string): Intent | null {
  const value = tryParseJson(readFileSync(intentPath(folder), 'utf8'));
  if (typeof value !== 'object' || value === null || !('generation' in value) || !('keptIn' in value)) return null;
  const { generation, keptIn } = value;
  if (typeof generation !== 'string' || (keptIn !== null && typeof keptIn !== 'string')) return null;
  return { generation, keptIn };
}

/** A name for the folder that keeps the old files. */
export function stampedName(prefix: string, nowMs: number): string {
  return `${prefix}-${new Date(nowMs).toISOString().replace(/[:.]/g, '-')}`;
}
