import { type SettingPath, SettingsError, type SettingsFormat } from './format.ts';

/**
 * YAML in block style. A path of one step is a key of the root mapping, with a value of one line. A path of three steps is
 * an element of a list: the list's key (empty for a list at the root), and a member of the element that identifies it, like
 * `['models', 'name', 'Tollgate']`. Its value is the element's lines, without dash and indentation.
 */
export const yamlFormat: SettingsFormat = {
  read(text, path) {
    const lines = linesOf(text);
    if (path.length > 1) return readElement(lines, path);
    const entry = entryOf(lines, path[0]!);
    return entry === null ? null : entryValue(lines, entry);
  },

  write(text, path, value) {
    const lines = linesOf(text);
    return textOf(path.length > 1 ? writeElement(lines, path, value) : writeEntry(lines, path[0]!, value));
  },

  remove(text, path) {
    const lines = linesOf(text);
    if (path.length > 1) return textOf(removeElement(lines, path));
    const entry = entryOf(lines, path[0]!);
    return entry === null ? text : textOf(lines.toSpliced(entry.start, entry.end - entry.start));
  },

  parents: (path) => (path.length > 1 && path[0] !== '' ? [path.slice(0, 1)] : []),

  isEmpty: (value) => /^(?:|\[\s*\]|\{\s*\}|~|null)$/.test(value.trim()),
};

/** Lines `start` to `end`, the latter not included. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface ListSpan extends Span {
  readonly indent: string;
  readonly elements: readonly Span[];
}

const BLANK = /^\s*(?:#.*)?$/;
/** Lines that belong to no key: directives and document marks. */
const MARK = /^(?:%|---|\.\.\.)/;
const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s"'#&*!|>@`[\]{},-][^:#]*?|-[^\s:][^:#]*?))\s*:(?=\s|$)/;

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const first = lines.find((line) => !BLANK.test(line) && !MARK.test(line));
  if (first !== undefined && /^\s*[[{]/.test(first)) {
    throw new SettingsError(
      'The file is written in flow style, with brackets; write it in block style, with one setting per line.',
    );
  }
  if (lines.some((line) => /^\s*\t/.test(line)))
    throw new SettingsError('The file is indented with tabs, which YAML does not allow.');
  return lines;
}

function textOf(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** The lines of a key of the root mapping, without comments and blank lines that follow it. */
function entryOf(lines: readonly string[], key: string): Span | null {
  const start = lines.findIndex((line) => keyOf(line) === key);
  if (start === -1) return null;
  let next = start + 1;
  while (next < lines.length && !isRootKey(lines[next]!)) next++;
  return { start, end: trimmedEnd(lines, start, next) };
}

function keyOf(line: string): string | null {
  const found = KEY.exec(line);
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? null);
}

/** A line without indentation starts a new entry, unless it is a comment, an element of a list or a closing bracket. */
function isRootKey(line: string): boolean {
  return MARK.test(line) || /^[^\s#\]}-]/.test(line) || /^-[^\s]/.test(line);
}

function trimmedEnd(lines: readonly string[], start: number, end: number): number {
  let last = end;
  while (last > start + 1 && BLANK.test(lines[last - 1]!)) last--;
  return last;
}

function entryValue(lines: readonly string[], { start, end }: Span): string {
  const { value } = splitEntry(lines[start]!);
  return [value, ...lines.slice(start + 1, end)].join('\n').trimEnd();
}

/** The line before, in and after the value, where a comment may be. */
function splitEntry(line: string): { before: string; value: string; after: string } {
  const before = KEY.exec(line)?.[0] ?? '';
  const rest = line.slice(before.length);
  const value = /^\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|.*?)(?=\s+#|\s*$)/.exec(rest)?.[1] ?? '';
  return { before, value, after: rest.slice(rest.indexOf(value) + value.length) };
}

function writeEntry(lines: readonly string[], key: string, value: string): string[] {
  const entry = entryOf(lines, key);
  if (entry === null) {
    refuseRootList(lines);
    return [...lines, `${key}: ${value}`];
  }
  const { before, after } = splitEntry(lines[entry.start]!);
  const written = `${before} ${value}${entry.end === entry.start + 1 ? after.trimEnd() : ''}`;
  return lines.toSpliced(entry.start, entry.end - entry.start, ...written.split('\n'));
}

function refuseRootList(lines: readonly string[]): void {
  const first = lines.find((line) => !BLANK.test(line) && !MARK.test(line));
  if (first !== undefined && /^\s*-(?:\s|$)/.test(first))
    throw new SettingsError('The file holds a list; it must hold settings.');
}

/** The list under a key, or the list that is the whole file; null if the key is missing. */
function listOf(lines: readonly string[], key: string): ListSpan | null {
  if (key === '') {
    const start = lines.findIndex((line) => !BLANK.test(line) && !MARK.test(line));
    if (start !== -1 && !/^\s*-(?:\s|$)/.test(lines[start]!)) throw new SettingsError('The file must hold a list.');
    return elementsIn(lines, { start: start === -1 ? lines.length : start, end: lines.length });
  }
  const entry = entryOf(lines, key);
  if (entry === null) return null;
  const { value } = splitEntry(lines[entry.start]!);
  if (!yamlFormat.isEmpty(value)) {
    throw new SettingsError(`"${key}" is a list in one line; write one element per line, each with a dash.`);
  }
  return elementsIn(lines, { start: entry.start + 1, end: entry.end });
}

function elementsIn(lines: readonly string[], { start, end }: Span): ListSpan {
  const first = lines.slice(start, end).find((line) => /^\s*-(?:\s|$)/.test(line));
  const indent = /^\s*/.exec(first ?? '')![0];
  const starts: number[] = [];
  for (let at = start; at < end; at++) {
    if (lines[at]!.startsWith(`${indent}-`) && /^-(?:\s|$)/.test(lines[at]!.slice(indent.length))) starts.push(at);
  }
  const elements = starts.map((from, index) => ({
    start: from,
    end: trimmedEnd(lines, from, starts[index + 1] ?? end),
  }));
  return { start, end, indent, elements };
}

function findElement(lines: readonly string[], list: ListSpan, path: SettingPath): Span | undefined {
  const [, member, wanted] = path;
  return list.elements.find((element) =>
    elementLines(lines, list, element)
      .split('\n')
      .some((line) => keyOf(line) === member && splitEntry(line).value.replace(/^(["'])(.*)\1$/, '$2') === wanted),
  );
}

function elementLines(lines: readonly string[], { indent }: ListSpan, { start, end }: Span): string {
  const own = lines.slice(start, end);
  const inner = /^-\s*/.exec(own[0]!.slice(indent.length))![0].length;
  return own.map((line) => line.slice(indent.length + inner)).join('\n');
}

function readElement(lines: readonly string[], path: SettingPath): string | null {
  const list = listOf(lines, path[0]!);
  const element = list === null ? undefined : findElement(lines, list, path);
  return list === null || element === undefined ? null : elementLines(lines, list, element);
}

function writeElement(lines: readonly string[], path: SettingPath, value: string): string[] {
  const key = path[0]!;
  const list = listOf(lines, key);
  if (list === null) return [...lines, `${key}:`, ...dashed(value, '  ')];
  const element = findElement(lines, list, path);
  if (element !== undefined) {
    return lines.toSpliced(element.start, element.end - element.start, ...dashed(value, list.indent));
  }
  const first = list.elements[0];
  // The first element is what clients use by default.
  if (first !== undefined) return lines.toSpliced(first.start, 0, ...dashed(value, list.indent));
  const opened = key === '' ? [...lines] : lines.with(list.start - 1, `${key}:`);
  return opened.toSpliced(list.start, 0, ...dashed(value, key === '' ? '' : '  '));
}

function dashed(value: string, indent: string): string[] {
  return value.split('\n').map((line, index) => (line === '' ? '' : `${indent}${index === 0 ? '- ' : '  '}${line}`));
}

function removeElement(lines: readonly string[], path: SettingPath): string[] {
  const list = listOf(lines, path[0]!);
  const element = list === null ? undefined : findElement(lines, list, path);
  if (list === null || element === undefined) return [...lines];
  const rest = lines.toSpliced(element.start, element.end - element.start);
  const isLast = list.elements.length === 1 && path[0] !== '';
  return isLast ? rest.with(list.start - 1, `${path[0]}: []`) : rest;
}
