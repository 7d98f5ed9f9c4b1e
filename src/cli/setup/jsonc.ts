import { type SettingPath, SettingsError, type SettingsFormat, type Splice, splice } from './format.ts';
import { JsoncScanner, type Member, type ObjectSpan } from './jsonc-scanner.ts';

const INDENT = '  ';

/** JSON with comments and trailing commas. Every step of a path is the name of a member. */
export const jsoncFormat: SettingsFormat = {
  read(text, path) {
    const member = findMember(text, path);
    if (member === null) return null;
    return text.slice(member.valueStart, member.valueEnd).replaceAll(`\n${INDENT.repeat(path.length)}`, '\n');
  },

  write(text, path, value) {
    const source = isBlank(text) ? '{}\n' : text;
    let object = rootOf(source);
    for (const [depth, key] of path.entries()) {
      const rest = path.slice(depth + 1);
      const indent = INDENT.repeat(depth + 1);
      const member = memberOf(object, key);
      if (member === undefined)
        return addMember(source, object, `${JSON.stringify(key)}: ${nest(rest, value, indent)}`, depth);
      const isObject = source[member.valueStart] === '{';
      if (rest.length === 0 || !isObject) {
        const json = nest(rest, value, indent);
        return splice(source, { start: member.valueStart, end: member.valueEnd, text: json });
      }
      object = new JsoncScanner(source, member.valueStart).object();
    }
    return source;
  },

  remove(text, path) {
    if (isBlank(text)) return text;
    const parent = path.length === 1 ? rootOf(text) : objectAt(text, path.slice(0, -1));
    const member = parent === null ? undefined : memberOf(parent, path.at(-1)!);
    return parent === null || member === undefined ? text : dropMember(text, parent, member);
  },

  parents: (path) => path.slice(1).map((_, index) => path.slice(0, path.length - 1 - index)),

  isEmpty: (value) => /^\{\s*\}$/.test(value),
};

function isBlank(text: string): boolean {
  const scanner = new JsoncScanner(text, 0);
  scanner.skipSpace();
  return scanner.at === text.length;
}

function rootOf(text: string): ObjectSpan {
  const scanner = new JsoncScanner(text, 0);
  scanner.skipSpace();
  const root = scanner.object();
  scanner.skipSpace();
  if (scanner.at !== text.length) scanner.fail('expected the end of the file');
  return root;
}

function memberOf(object: ObjectSpan, key: string): Member | undefined {
  const found = object.members.filter((member) => member.key === key);
  if (found.length > 1) throw new SettingsError(`The member "${key}" occurs twice.`);
  return found[0];
}

function findMember(text: string, path: SettingPath): Member | null {
  if (isBlank(text)) return null;
  const parent = path.length === 1 ? rootOf(text) : objectAt(text, path.slice(0, -1));
  return (parent === null ? undefined : memberOf(parent, path.at(-1)!)) ?? null;
}

function objectAt(text: string, path: SettingPath): ObjectSpan | null {
  const member = findMember(text, path);
  return member === null || text[member.valueStart] !== '{' ? null : new JsoncScanner(text, member.valueStart).object();
}

/** The value, within one object for each remaining step of the path, with lines indented for its place. */
function nest(path: SettingPath, value: string, indent: string): string {
  const [key, ...rest] = path;
  if (key === undefined) return value.replaceAll('\n', `\n${indent}`);
  const inner = indent + INDENT;
  return `{\n${inner}${JSON.stringify(key)}: ${nest(rest, value, inner)}\n${indent}}`;
}

function addMember(text: string, object: ObjectSpan, member: string, depth: number): string {
  const indent = INDENT.repeat(depth + 1);
  const last = object.members.at(-1);
  const isOneLine = !text.slice(object.start, object.end).includes('\n');
  if (last === undefined) {
    const close = isOneLine ? `\n${INDENT.repeat(depth)}` : '';
    return splice(text, { start: object.start + 1, end: object.start + 1, text: `\n${indent}${member}${close}` });
  }
  if (isOneLine) return splice(text, { start: last.valueEnd, end: last.valueEnd, text: `, ${member}` });
  const lineEnd = new JsoncScanner(text, last.end).lineEnd();
  const hasComma = last.end > last.valueEnd;
  const added = splice(text, {
    start: lineEnd,
    end: lineEnd,
    text: `\n${indentOf(text, last, indent)}${member}${hasComma ? ',' : ''}`,
  });
  return hasComma ? added : splice(added, { start: last.valueEnd, end: last.valueEnd, text: ',' });
}

/** The indentation of a member's line, or the usual one if other text is before it. */
function indentOf(text: string, member: Member, usual: string): string {
  const before = text.slice(text.lastIndexOf('\n', member.keyStart) + 1, member.keyStart);
  return /^[ \t]+$/.test(before) ? before : usual;
}

function dropMember(text: string, object: ObjectSpan, member: Member): string {
  const index = object.members.indexOf(member);
  const before = object.members[index - 1];
  const next = object.members[index + 1];
  const line = ownLines(text, object, member);
  if (before === undefined && next === undefined)
    return dropOnly(text, object, line ?? { start: member.keyStart, end: member.end });
  if (line === null) {
    const start = next === undefined ? before!.valueEnd : member.keyStart;
    return splice(text, { start, end: next?.keyStart ?? member.end, text: '' });
  }
  const cut = splice(text, { ...line, text: '' });
  // The member before must not keep a comma that separated it from this one.
  const needsNoComma = next === undefined && before !== undefined && member.end === member.valueEnd;
  return needsNoComma ? splice(cut, { start: before.valueEnd, end: before.end, text: '' }) : cut;
}

/** The lines of a member that has lines of its own. */
function ownLines(text: string, object: ObjectSpan, member: Member): Omit<Splice, 'text'> | null {
  const start = text.lastIndexOf('\n', member.keyStart) + 1;
  const after = /^[ \t]*\r?\n/.exec(text.slice(member.end));
  if (start <= object.start || after === null || text.slice(start, member.keyStart).trim() !== '') return null;
  return { start, end: member.end + after[0].length };
}

function dropOnly(text: string, object: ObjectSpan, member: Omit<Splice, 'text'>): string {
  const left = text.slice(object.start + 1, member.start) + text.slice(member.end, object.end - 1);
  return splice(text, { start: object.start, end: object.end, text: left.trim() === '' ? '{}' : `{${left}}` });
}
