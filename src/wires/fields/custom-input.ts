import { tryParseJson } from '../../json/json.ts';
import { isObject, type Members } from './members.ts';
import { isEmpty } from './without-effect.ts';

/** The one argument of a function that stands for a custom tool. */
const ARGUMENT = 'input';

/** A custom tool takes free text. For hosts without custom tools it is a function with that text as its only argument. */
export function functionForm(tool: Members): Members {
  const { name, description } = tool;
  return {
    type: 'function',
    name,
    description: [description, describeFormat(tool.format)].filter((text) => typeof text === 'string').join('\n\n'),
    parameters: {
      type: 'object',
      properties: { [ARGUMENT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
      required: [ARGUMENT],
      additionalProperties: false,
    },
    strict: false,
  };
}

/** Any text is the default, so a format that says so asks for nothing. Hosts read other formats at most, and do not enforce them. */
export function isFreeText(format: unknown): boolean {
  return isEmpty(format) || (isObject(format) && format.type === 'text');
}

/** A function's schema cannot hold a grammar, so the description does. */
function describeFormat(format: unknown): string | null {
  if (!isObject(format) || format.type !== 'grammar') return null;
  return `The input must match this ${String(format.syntax)} grammar:\n${String(format.definition)}`;
}

/** What a host reads of such a function besides the caller's own text. */
export const FUNCTION_FORM = JSON.stringify(functionForm({ format: { type: 'grammar', syntax: '', definition: '' } }));

export function wrapInput(input: string): string {
  return JSON.stringify({ [ARGUMENT]: input });
}

/** The input in the arguments of a call. */
export function unwrapInput(argumentsJson: string): string {
  const unwrapper = new InputUnwrapper();
  return unwrapper.add(argumentsJson) + unwrapper.end();
}

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
/** No model writes more than this before the input; longer beginnings are not searched again for every part. */
const OPENING_CHARS_MAX = 64;

/** Unwraps streamed arguments: gives each part of the input as soon as it has arrived. */
export class InputUnwrapper {
  /** What has arrived and was not given yet. */
  #waiting = '';
  #hasBegun = false;

  /** The next part of the input; empty if there is none yet. */
  add(delta: string): string {
    this.#waiting += delta;
    if (!this.#hasBegun && !this.#begin()) return '';
    const end = endOfCharacters(this.#waiting);
    const part = decode(this.#waiting.slice(0, end));
    this.#waiting = this.#waiting.slice(end);
    return part;
  }

  /** The input of arguments that are not of the expected form: if a model ignored the schema, all that it wrote is the input. */
  end(): string {
    if (this.#hasBegun) return '';
    const value = tryParseJson(this.#waiting);
    return isObject(value) && typeof value[ARGUMENT] === 'string' ? value[ARGUMENT] : this.#waiting;
  }

  #begin(): boolean {
    const opening =
      this.#waiting.length > OPENING_CHARS_MAX ? this.#waiting.slice(0, OPENING_CHARS_MAX) : this.#waiting;
    const found = OPENING.exec(opening);
    if (found === null) return false;
    this.#hasBegun = true;
    this.#waiting = this.#waiting.slice(found[0].length);
    return true;
  }
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const SMALL_U = 0x75;

/** Where the whole characters of a JSON string end: before its closing quote, or before a character that is cut off. */
function endOfCharacters(text: string): number {
  let at = 0;
  let last = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    const length = code !== BACKSLASH ? 1 : text.charCodeAt(at + 1) === SMALL_U ? 6 : 2;
    if (at + length > text.length) break;
    last = at;
    at += length;
  }
  return HIGH_SURROGATE.test(text.slice(last, at)) ? last : at;
}

/** The first half of a character, which is given together with the second. */
const HIGH_SURROGATE = /^(?:[\ud800-\udbff]|\\u[dD][89abAB])/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** Models write wrong escapes and raw line breaks, which a parser would refuse. */
function decode(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? decodeEscape(letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function decodeEscape(letter: string): string {
  if (letter === '"' || letter === '\\' || letter === '/') return letter;
  return ESCAPES[letter] ?? `\\${letter}`;
}
