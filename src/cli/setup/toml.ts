import { type SettingPath, SettingsError, type SettingsFormat, splice } from './format.ts';
import { isHeader, readStatements, type Statement } from './toml-statements.ts';

/**
 * TOML. A path of one step is a key of the root table, with a value like `"text"`; a longer path is a table, whose value
 * is its lines.
 */
export const tomlFormat: SettingsFormat = {
  read(text, path) {
    const statements = readStatements(text);
    if (path.length === 1) {
      const found = rootKey(statements, path);
      return found === undefined ? null : text.slice(found.valueStart, found.valueEnd);
    }
    const table = tableOf(statements, path);
    return table === null ? null : text.slice(table.bodyStart, table.end).trimEnd();
  },

  write(text, path, value) {
    const statements = readStatements(text);
    if (path.length > 1) return writeTable(text, statements, path, value);
    const found = rootKey(statements, path);
    if (found !== undefined) return splice(text, { start: found.valueStart, end: found.valueEnd, text: value });
    return addRootKey(text, statements, `${path[0]} = ${value}\n`);
  },

  remove(text, path) {
    const statements = readStatements(text);
    if (path.length > 1) return dropTable(text, statements, path);
    const found = rootKey(statements, path);
    return found === undefined ? text : splice(text, { start: found.start, end: found.end, text: '' });
  },

  parents: () => [],

  isEmpty: (value) => value.trim() === '',
};

function rootKey(statements: readonly Statement[], path: SettingPath): Statement | undefined {
  return rootOf(statements).find(({ name }) => isSame(name, path));
}

function rootOf(statements: readonly Statement[]): readonly Statement[] {
  const first = statements.findIndex(isHeader);
  return first === -1 ? statements : statements.slice(0, first);
}

function addRootKey(text: string, statements: readonly Statement[], line: string): string {
  const last = rootOf(statements).at(-1);
  if (last !== undefined) {
    const newline = text[last.end - 1] === '\n' ? '' : '\n';
    return splice(text, { start: last.end, end: last.end, text: newline + line });
  }
  return text.trim() === '' ? line : `${line}\n${text}`;
}

interface Table {
  readonly start: number;
  readonly bodyStart: number;
  /** After the last key, so that comments before the next table stay with it. */
  readonly end: number;
}

function tableOf(statements: readonly Statement[], path: SettingPath): Table | null {
  const at = statements.findIndex((one) => one.kind === 'table' && isSame(one.name, path));
  if (at === -1) return null;
  const header = statements[at]!;
  const next = statements.findIndex((one, index) => index > at && isHeader(one));
  const last = statements.slice(at, next === -1 ? undefined : next).at(-1)!;
  return { start: header.start, bodyStart: header.end, end: last.end };
}

function writeTable(text: string, statements: readonly Statement[], path: SettingPath, value: string): string {
  const table = tableOf(statements, path);
  if (table !== null) return splice(text, { start: table.bodyStart, end: table.end, text: `${value}\n` });
  refuseOtherForms(statements, path);
  const before = text.trim() === '' ? '' : `${text.replace(/\n*$/, '\n')}\n`;
  return `${before}[${path.join('.')}]\n${value}\n`;
}

/** The same table can be written as an inline table or with dotted keys; a second definition would be invalid. */
function refuseOtherForms(statements: readonly Statement[], path: SettingPath): void {
  let table: readonly string[] = [];
  for (const { kind, name } of statements) {
    if (kind !== 'key') {
      table = name;
      continue;
    }
    const whole = [...table, ...name];
    const depth = Math.min(whole.length, path.length);
    if (isSame(whole.slice(0, depth), path.slice(0, depth))) {
      throw new SettingsError(
        `"${whole.join('.')}" is written in one line; make it a table [${path.join('.')}] or remove it.`,
      );
    }
  }
}

function dropTable(text: string, statements: readonly Statement[], path: SettingPath): string {
  const table = tableOf(statements, path);
  if (table === null) return text;
  const blank = /\n(\n)$/.exec(text.slice(0, table.start));
  return splice(text, { start: table.start - (blank?.[1]?.length ?? 0), end: table.end, text: '' });
}

function isSame(name: readonly string[], path: SettingPath): boolean {
  return name.length === path.length && name.every((part, index) => part === path[index]);
}
