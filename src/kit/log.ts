import { systemClock } from './clock.ts';
import { cutText } from './cut-text.ts';
import { LineWriter } from './line-writer.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

type LogFields = Readonly<Record<string, unknown>>;

/** Members of a JSON object that are already written as text; used for the log line of every call. */
export class WrittenFields {
  readonly members: string;

  constructor(members: string) {
    this.members = members;
  }
}

/** The log: fields first, then one sentence. Callers must leave out what must not be logged. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields | WrittenFields, message: string): void;
  warn(fields: LogFields | WrittenFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface RootLog extends Log {
  /** Writes lines that another thread has made with a log of its own. */
  writeLines(lines: readonly string[]): void;
  /** Lines dropped since the start because they could not be written. */
  readonly dropped: number;
  /** Resolves when the lines so far have been written, or after a second. */
  flush(): Promise<void>;
  /** Writes the last lines before the process ends at once; the normal end of the process does so by itself. */
  flushSync(): void;
}

interface LogOptions {
  readonly level: LogLevel;
  /** A file descriptor, the path of a file, or an object that takes whole lines. */
  readonly destination: number | string | { write(line: string): void };
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Lines are built by hand: the log line of a call is on the hot path. */
export function createLog({ level, destination }: LogOptions): RootLog {
  const writer = typeof destination === 'object' ? null : new LineWriter({ destination, droppedLine });
  const lines = typeof destination === 'object' ? destination : writer!;
  const at = (own: LogLevel): Log['info'] =>
    LEVELS.indexOf(own) < LEVELS.indexOf(level)
      ? () => {}
      : (fields, message) => void lines.write(lineOf(own, fields, message));
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    writeLines: (written) => {
      for (const line of written) lines.write(line);
    },
    get dropped() {
      return writer?.dropped ?? 0;
    },
    flush: () => writer?.flush() ?? Promise.resolve(),
    flushSync: () => writer?.flushSync(),
  };
}

function droppedLine(lines: number): string {
  return lineOf('warn', { lines }, 'Log lines were dropped because they could not be written.');
}

/** The text of the last second written, up to the decimal point; most lines reuse it. */
const lastSecond = { number: Number.NaN, text: '' };

function timeText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond.number) {
    lastSecond.number = second;
    lastSecond.text = new Date(second * 1000).toISOString().slice(0, -4);
  }
  const ms = Math.floor(nowMs) - second * 1000;
  return `${lastSecond.text}${ms < 100 ? '0' : ''}${ms < 10 ? '0' : ''}${ms}Z`;
}

function lineOf(level: LogLevel, fields: LogFields | WrittenFields, message: string): string {
  const time = timeText(systemClock.nowMs());
  const members = fields instanceof WrittenFields ? fields.members : membersOf(fields);
  const comma = members === '' ? '' : ',';
  return `{"level":"${level}","time":"${time}"${comma}${members},"msg":${quoted(message)}}\n`;
}

/** Characters that need no escape in a JSON string. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The same as JSON.stringify, but faster for text without escapes. */
export function quoted(text: string | null): string {
  if (text === null) return 'null';
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Fields that cannot be written as JSON must not make the caller fail. */
function membersOf(fields: LogFields): string {
  try {
    return JSON.stringify(fields).slice(1, -1);
  } catch {
    return membersAsTexts(fields);
  }
}

function membersAsTexts(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(asText(value))}`)
    .join(',');
}

function asText(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function' ? `(${typeof value})` : shorten(String(value));
}

interface ErrorFields {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: ErrorFields;
}

const MESSAGE_CHARACTERS_MAX = 1000;
const CAUSES_MAX = 3;

/** The fields of an error for a log line, under `error`; the stack only if asked for. */
export function errorFields(error: unknown, options: { stack?: boolean } = {}): { readonly error: ErrorFields } {
  return { error: describeError(error, options.stack ?? false, CAUSES_MAX) };
}

function describeError(error: unknown, withStack: boolean, causesLeft: number): ErrorFields {
  if (!(error instanceof Error)) return { name: typeof error, message: describeOther(error) };
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    name: error.name,
    message: shorten(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(withStack && error.stack !== undefined ? { stack: error.stack } : {}),
    ...(error.cause !== undefined && causesLeft > 0
      ? { cause: describeError(error.cause, withStack, causesLeft - 1) }
      : {}),
  };
}

/** Any value can be thrown, also one that cannot be converted to a string. */
function describeOther(thrown: unknown): string {
  return typeof thrown === 'object' || typeof thrown === 'function'
    ? 'A non-Error value was thrown.'
    : shorten(String(thrown));
}

function shorten(text: string): string {
  return text.length <= MESSAGE_CHARACTERS_MAX ? text : `${cutText(text, MESSAGE_CHARACTERS_MAX)}…`;
}
