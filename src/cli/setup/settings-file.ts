import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../../kit/make-folder.ts';
import { LIMITS } from '../../limits.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure } from '../failure.ts';
import { type SettingPath, SettingsError, type SettingsFormat } from './format.ts';

/** One setting and the value it gets. */
export interface Setting {
  readonly path: SettingPath;
  /** Null removes it. */
  readonly value: string | null;
  /** Keep a value that is already there. */
  readonly keepOwn?: true;
}

/** A settings file as it is and as it will be. */
export interface FileChange {
  readonly file: string;
  /** Null: there is no such file. */
  readonly before: string | null;
  /** Null: the file is deleted. */
  readonly after: string | null;
}

/** As the client itself would make it: the user's umask decides. */
const FOLDER_MODE = 0o777;

/** What the copy holds if there was no file before. An empty file is one that was there. */
const NO_FILE = 'There was no such file before tollgate setup.\n';

const BYTE_ORDER_MARK = /^\ufeff/;

/** A copy of the file before the first setup. */
export function backupOf(file: string): string {
  return `${file}.before-tollgate`;
}

export function planSetup(file: string, format: SettingsFormat, settings: readonly Setting[]): FileChange {
  const before = readText(file);
  const after = editing(file, () => behindMark(before ?? '', (text) => apply(text, format, settings)));
  return { file, before, after };
}

/** Edits what is behind a byte order mark: in front of it nothing may be added. */
function behindMark(text: string, edit: (text: string) => string): string {
  const mark = BYTE_ORDER_MARK.exec(text)?.[0] ?? '';
  return mark + edit(text.slice(mark.length));
}

function apply(text: string, format: SettingsFormat, settings: readonly Setting[]): string {
  return settings.reduce((edited, { path, value, keepOwn }) => {
    if (value === null) return format.remove(edited, path);
    return keepOwn && format.read(edited, path) !== null ? edited : format.write(edited, path, value);
  }, text);
}

/**
 * Puts the settings back to what they were before the first setup. Other changes that the user or the client itself has
 * made since then stay.
 */
export function planUndo(file: string, format: SettingsFormat, paths: readonly SettingPath[]): FileChange {
  const kept = readText(backupOf(file));
  if (kept === null) {
    throw new CliFailure(EXIT.no, `There is nothing to undo: ${backupOf(file)} does not exist.`);
  }
  const wasThere = kept !== NO_FILE;
  const before = readText(file);
  const backup = wasThere ? kept.replace(BYTE_ORDER_MARK, '') : '';
  const restored = editing(file, () => behindMark(before ?? '', (text) => restore(text, backup, format, paths)));
  return { file, before, after: wasThere || !isLeftEmpty(restored) ? restored : null };
}

function isLeftEmpty(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}

function restore(text: string, backup: string, format: SettingsFormat, paths: readonly SettingPath[]): string {
  const own = paths.map((path) => ({ path, value: format.read(text, path) }));
  // If nothing else has changed, every byte is restored.
  if (apply(backup, format, own) === text) return backup;
  return paths.toReversed().reduce((edited, path) => restoreOne(edited, backup, format, path), text);
}

function restoreOne(text: string, backup: string, format: SettingsFormat, path: SettingPath): string {
  const old = format.read(backup, path);
  if (old !== null) return format.write(text, path, old);
  let edited = format.remove(text, path);
  for (const parent of format.parents(path)) {
    const left = format.read(edited, parent);
    if (left === null || !format.isEmpty(left) || format.read(backup, parent) !== null) break;
    edited = format.remove(edited, parent);
  }
  return edited;
}

/**
 * Writes the file in one step, with the permissions it had; a new file is for its owner only. A symbolic link stays, since
 * people keep such files in a repository.
 */
export function carryOut({ file, after }: FileChange): void {
  attempting(file, () => {
    const target = targetOf(file);
    if (after === null) return rmSync(target, { force: true });
    makeFolder(dirname(target), FOLDER_MODE);
    const mode = existsSync(target) ? statSync(target).mode : 0o600;
    const draft = `${target}.tollgate-new`;
    writeFileSync(draft, after, { mode });
    chmodSync(draft, mode);
    renameSync(draft, target);
  });
}

/** The file itself, or the one that a symbolic link leads to, even if it is not there yet. */
function targetOf(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? resolve(realpathSync(dirname(file)), readlinkSync(file)) : file;
}

/** Keeps the oldest copy: it is from before the first setup. */
export function keepBackup({ file, before }: FileChange): void {
  const backup = backupOf(file);
  attempting(backup, () => {
    if (existsSync(backup)) return;
    makeFolder(dirname(backup), FOLDER_MODE);
    writeFileSync(backup, before ?? NO_FILE, { mode: 0o600 });
  });
}

export function dropBackup(file: string): void {
  attempting(backupOf(file), () => rmSync(backupOf(file), { force: true }));
}

function readText(file: string): string | null {
  return attempting(file, () => {
    if (!existsSync(file)) return null;
    if (statSync(file).size > LIMITS.settingsFileBytesMax) {
      throw new CliFailure(EXIT.no, `${file} is larger than ${LIMITS.settingsFileBytesMax} bytes; edit it by hand.`);
    }
    return readFileSync(file, 'utf8');
  });
}

function attempting<Result>(file: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CliFailure(EXIT.no, `Cannot read or write ${file} (${code}). Check its owner and permissions.`);
  }
}

function editing<Result>(file: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new CliFailure(
      EXIT.no,
      `${file} was not changed. ${error.message} Correct that and run the command again, or edit the file by hand (docs/clients).`,
    );
  }
}
