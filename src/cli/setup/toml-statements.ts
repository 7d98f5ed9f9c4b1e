import { SettingsError } from './format.ts';

/** A key with its value, or the header of a table or of an element of an array of tables. */
export interface Statement {
  readonly kind: 'key' | 'table' | 'element';
  /** The parts of the dotted name. */
  readonly name: readonly string[];
  readonly start: number;
  /** Where its line ends, after a comment. */
  readonly end: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export function isHeader({ kind }: Statement): boolean {
  return kind !== 'key';
}

const NAME_PART = /(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))/y;
const STRING_MARKS = ['"""', "'''", '"', "'"] as const;
const CLOSERS: Readonly<Record<string, string>> = { '[': ']', '{': '}' };

export function readStatements(text: string): Statement[] {
  const statements: Statement[] = [];
  const reader = new TomlReader(text);
  for (;;) {
    reader.skipBlank();
    if (reader.atEnd) return statements;
    statements.push(reader.statement());
  }
}

/** Reads no more than it needs to find where statements begin and end. */
class TomlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Skips white space, line ends and comments. */
  skipBlank(): void {
    const blank = /(?:[\s\ufeff]|#[^\n]*)*/y;
    blank.lastIndex = this.#at;
    this.#at += blank.exec(this.#text)?.[0].length ?? 0;
    // The indentation of a statement belongs to it.
    while (/[ \t]/.test(this.#text[this.#at - 1] ?? '')) this.#at--;
  }

  statement(): Statement {
    const start = this.#at;
    this.#skipSpaces();
    if (this.#starts('[[')) return this.#header(start, '[[', ']]');
    if (this.#starts('[')) return this.#header(start, '[', ']');
    const name = this.#name();
    this.#expect('=');
    this.#skipSpaces();
    const valueStart = this.#at;
    this.#value();
    const valueEnd = this.#at;
    return { kind: 'key', name, start, valueStart, valueEnd, end: this.#lineEnd() };
  }

  #header(start: number, open: '[' | '[[', close: string): Statement {
    this.#expect(open);
    const name = this.#name();
    this.#expect(close);
    const valueStart = this.#at;
    const kind = open === '[' ? 'table' : 'element';
    return { kind, name, start, valueStart, valueEnd: valueStart, end: this.#lineEnd() };
  }

  #name(): string[] {
    const parts: string[] = [];
    do {
      this.#skipSpaces();
      NAME_PART.lastIndex = this.#at;
      const part = NAME_PART.exec(this.#text);
      if (part === null) return this.#fail('expected a key');
      parts.push(part[1] ?? part[2] ?? part[3] ?? '');
      this.#at += part[0].length;
      this.#skipSpaces();
    } while (this.#take('.'));
    return parts;
  }

  #value(): void {
    const string = STRING_MARKS.find((mark) => this.#starts(mark));
    const closer = CLOSERS[this.#text[this.#at] ?? ''];
    if (string !== undefined) this.#string(string);
    else if (closer !== undefined) this.#group(closer);
    else this.#word();
  }

  #word(): void {
    const word = /[^\s,\]}#]+(?: \d\d:[0-9:.Z+-]+)?/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text);
    if (found === null) this.#fail('expected a value');
    else this.#at += found[0].length;
  }

  #string(mark: string): void {
    this.#at += mark.length;
    const isLong = mark.length === 3;
    while (!this.atEnd) {
      if (this.#starts(mark)) {
        this.#at += mark.length;
        // Up to two more quotes may belong to the text of a long string.
        for (let more = 0; isLong && more < 2 && this.#starts(mark[0]!); more++) this.#at++;
        return;
      }
      if (!isLong && this.#starts('\n')) break;
      this.#at += mark[0] === '"' && this.#starts('\\') ? 2 : 1;
    }
    this.#fail('a string is not closed');
  }

  /** An array or an inline table: strings and groups in it, and anything else up to the closing bracket. */
  #group(closer: string): void {
    this.#at++;
    for (;;) {
      this.#skipInGroup();
      if (this.atEnd) this.#fail('a bracket is not closed');
      if (this.#take(closer)) return;
      const isNested = STRING_MARKS.some((mark) => this.#starts(mark)) || CLOSERS[this.#text[this.#at]!] !== undefined;
      if (isNested) this.#value();
      else this.#at++;
    }
  }

  #skipInGroup(): void {
    const blank = /(?:\s|#[^\n]*)*/y;
    blank.lastIndex = this.#at;
    this.#at += blank.exec(this.#text)?.[0].length ?? 0;
  }

  #lineEnd(): number {
    const rest = /[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y;
    rest.lastIndex = this.#at;
    const found = rest.exec(this.#text);
    if (found === null) return this.#fail('expected the end of the line');
    this.#at += found[0].length;
    return this.#at;
  }

  #skipSpaces(): void {
    while (this.#starts(' ') || this.#starts('\t')) this.#at++;
  }

  #starts(part: string): boolean {
    return this.#text.startsWith(part, this.#at);
  }

  #take(part: string): boolean {
    if (!this.#starts(part)) return false;
    this.#at += part.length;
    return true;
  }

  #expect(part: string): void {
    this.#skipSpaces();
    if (!this.#take(part)) this.#fail(`expected "${part}"`);
  }

  #fail(what: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    throw new SettingsError(`Line ${line} is not valid TOML: ${what}.`);
  }
}
