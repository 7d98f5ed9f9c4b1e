import { cutText } from '../kit/cut-text.ts';

export type JsonErrorCode =
  | 'invalid_utf8'
  | 'byte_order_mark'
  | 'syntax'
  | 'duplicate_key'
  | 'too_deep'
  | 'too_many_values'
  | 'too_many_keys'
  | 'too_much_work'
  | 'number_too_long'
  | 'key_too_long';

/** JSON was refused. The message is for the sender and never quotes a value. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly code: JsonErrorCode;
  /** The path of the error, such as `messages[2].content`; empty for the outermost value. */
  readonly path: string;

  constructor(code: JsonErrorCode, message: string, path = '') {
    super(message);
    this.code = code;
    this.path = path;
  }
}

export function tooDeep(): JsonError {
  return new JsonError('too_deep', 'This JSON is nested too deeply.');
}

const PATH_CHARACTERS_MAX = 200;

/** Writes `['messages', 2, 'content']` as `messages[2].content`. */
export function formatPath(steps: readonly (string | number)[]): string {
  const path = steps.map((step, index) => formatStep(step, index === 0)).join('');
  return path.length <= PATH_CHARACTERS_MAX ? path : `${cutText(path, PATH_CHARACTERS_MAX)}…`;
}

function formatStep(step: string | number, isFirst: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}

export function describePlace(bytes: Buffer, at: number): string {
  const lineStart = at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1;
  let line = 1;
  for (let feed = bytes.indexOf(0x0a); feed !== -1 && feed < at; feed = bytes.indexOf(0x0a, feed + 1)) line++;
  return `at line ${line}, column ${bytes.toString('utf8', lineStart, at).length + 1}`;
}

export function describeByte(byte: number | undefined): string {
  if (byte === undefined) return 'the end of the text';
  if (byte === 0x27) return "a single quote (')";
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
