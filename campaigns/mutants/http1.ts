import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `http1: ${name}`, changes: [{ file, find, replace }], tests };
}

const ORACLE = 'test/http-differential.test.ts';
const BODY = 'src/http1/body.ts';
const HEADERS = 'src/http1/headers.ts';
const ANSWER_HEAD = 'src/http1/client/response-head.ts';
const REQUEST_LINES = 'src/http1/server/request-lines.ts';

/** Faults by which our HTTP/1.1 parser would read a different message from other parsers. */
export const HTTP1_MUTANTS: readonly Mutant[] = [
  mutant(
    'a chunk that may end without its line end',
    BODY,
    "      if (bytes[at] !== (this.#sawCr ? LF : CR)) return this.#break(MALFORMED_CHUNK);\n      if (this.#sawCr) {\n        this.#sawCr = false;\n        this.#phase = 'chunk-size';\n        return at + 1;\n      }\n",
    "      if (bytes[at] === LF) {\n        this.#sawCr = false;\n        this.#phase = 'chunk-size';\n        return at + 1;\n      }\n",
    ORACLE,
  ),
  mutant(
    'an extension that may end inside quotes',
    BODY,
    '    if (this.#extension !== null && !isWholeExtension(this.#extension)) return this.#break(MALFORMED_EXTENSION);\n',
    '',
    'src/http1/body.test.ts',
  ),
  mutant('any line for a trailer', BODY, '!isTrailerLine(this.#trailer)', "!this.#trailer.includes(':')", ORACLE),
  mutant(
    'values trimmed of all white space',
    HEADERS,
    '    const value = trimmed(text, bytes, colon + 1, end);\n',
    '    const value = text.slice(colon + 1, end).trim();\n',
    'src/http1/headers.test.ts',
  ),
  mutant(
    'a repeated header that is dropped from the raw ones',
    HEADERS,
    '    raw?.push(isLowerCase(bytes, at, colon)',
    '    if (before === undefined) raw?.push(isLowerCase(bytes, at, colon)',
    ORACLE,
  ),
  mutant(
    'a length beside chunks that is ignored',
    REQUEST_LINES,
    '  if (length !== undefined || !/',
    '  if (!/',
    'src/http1/server/request-lines.test.ts',
  ),
  mutant(
    'two lengths of which the first counts',
    ANSWER_HEAD,
    "  const length = headers['content-length'];\n  if (coding",
    "  const length = headers['content-length']?.split(',')[0];\n  if (coding",
    ORACLE,
  ),
  mutant(
    'an answer to 304 that has a body',
    ANSWER_HEAD,
    '  if (status < 200 || status === 204 || status === 304) return 0;\n',
    '  if (status < 200 || status === 204) return 0;\n',
    ORACLE,
  ),
];
