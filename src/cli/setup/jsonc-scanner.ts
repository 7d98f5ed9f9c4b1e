import { tryParseJson } from '../../json/json.ts';
import { SettingsError } from './format.ts';

export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Just after the comma, or `valueEnd` if there is none. */
  readonly end: number;
}

export interface ObjectSpan {
  readonly start: number;
  /** Just after the closing brace. */
  readonly end: number;
  readonly members: readonly Member[];
}

const WORD_UNITS_MAX = 400;

/** Finds where the members of objects are, in JSON with comments and trailing commas. */
export class JsoncScanner {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  fail(what: string): never {
    const line = this.#text.slice(0, this.at).split('\n').length;
    throw new SettingsError(`Line ${line} is not valid JSON: ${what}.`);
  }

  object(): ObjectSpan {
    const start = this.at;
    const members: Member[] = [];
    this.#expect('{');
    for (;;) {
      this.skipSpace();
      if (this.#take('}')) return { start, end: this.at, members };
      members.push(this.#member());
    }
  }

  #member(): Member {
    const keyStart = this.at;
    if (this.#text[this.at] !== '"') this.fail('expected a member name in double quotes');
    this.#string();
    const key = String(tryParseJson(this.#text.slice(keyStart, this.at)));
    this.skipSpace();
    this.#expect(':');
    this.skipSpace();
    const valueStart = this.at;
    this.#value();
    const valueEnd = this.at;
    this.skipSpace();
    const hasComma = this.#take(',');
    if (!hasComma && this.#text[this.at] !== '}') this.fail('expected a comma or a closing brace');
    return { key, keyStart, valueStart, valueEnd, end: hasComma ? this.at : valueEnd };
  }

  #value(): void {
    const first = this.#text[this.at];
    if (first === '"') this.#string();
    else if (first === '{') this.object();
    else if (first === '[') this.#array();
    else this.#word();
  }

  #word(): void {
    const word = /^[-+.\w]+/.exec(this.#text.slice(this.at, this.at + WORD_UNITS_MAX));
    if (word === null) this.fail('expected a value');
    else this.at += word[0].length;
  }

  #array(): void {
    this.#expect('[');
    for (;;) {
      this.skipSpace();
      if (this.#take(']')) return;
      this.#value();
      this.skipSpace();
      if (!this.#take(',') && this.#text[this.at] !== ']') this.fail('expected a comma or a closing bracket');
    }
  }

  #string(): void {
    for (this.at++; this.at < this.#text.length; this.at++) {
      const unit = this.#text[this.at];
      if (unit === '\n') break;
      if (unit === '\\') this.at++;
      else if (unit === '"') {
        this.at++;
        return;
      }
    }
    this.fail('a string is not closed');
  }

  /** Skips white space, comments and a byte order mark. */
  skipSpace(): void {
    for (;;) {
      const rest = this.#text.slice(this.at, this.at + 2);
      if (rest === '//') this.at = this.#indexOr('\n', this.#text.length);
      else if (rest === '/*') this.#blockComment();
      else if (rest !== '' && /[\s\ufeff]/.test(rest[0]!)) this.at++;
      else return;
    }
  }

  /** The end of this line, after comments that began on it; the closing brace if that comes first. */
  lineEnd(): number {
    for (;;) {
      const rest = this.#text.slice(this.at, this.at + 2);
      if (rest === '//') this.at = this.#indexOr('\n', this.#text.length);
      else if (rest === '/*') this.#blockComment();
      else if (rest[0] === ' ' || rest[0] === '\t') this.at++;
      else return this.#text[this.at] === '\r' ? this.at : this.#trimmedEnd();
    }
  }

  #trimmedEnd(): number {
    let end = this.at;
    while (/[ \t\r]/.test(this.#text[end - 1] ?? '')) end--;
    return end;
  }

  #blockComment(): void {
    const end = this.#text.indexOf('*/', this.at + 2);
    if (end === -1) this.fail('a comment is not closed');
    this.at = end + 2;
  }

  #indexOr(part: string, otherwise: number): number {
    const found = this.#text.indexOf(part, this.at);
    return found === -1 ? otherwise : found;
  }

  #expect(unit: string): void {
    if (!this.#take(unit)) this.fail(`expected "${unit}"`);
  }

  #take(unit: string): boolean {
    if (this.#text[this.at] !== unit) return false;
    this.at++;
    return true;
  }
}
