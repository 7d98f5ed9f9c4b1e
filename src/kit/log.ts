import { openSync } from 'node:fs';
import pino from 'pino';
import { systemClock } from './clock.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type LogFields = Readonly<Record<string, unknown>>;

/** Members of a JSON object that are written already, for the one line that every call makes. */
export class WrittenFields {
  readonly members: string;

  constructor(members: string) {
    this.members = members;
  }
}

/** What the product logs to: fields first, then one sentence. What must not be logged is the caller's matter. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields | WrittenFields, message: string): void;
  warn(fields: LogFields | WrittenFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export interface RootLog extends Log {
  /** Writes out at once what is still buffered; the end of the process does so too. */
  flush(): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** A file descriptor, a file's path, or whatever takes whole lines. */
  readonly destination: number | string | { write(line: string): void };
}

/** A destination that takes nothing must not fill the memory: beyond this, lines are dropped. */
const BUFFERED_BYTES_MAX = 16 * 1024 * 1024;

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Lines are made here, not by pino: its long chains of small strings cost a busy gateway a sixth of its CPU. */
export function createLog({ level, destination }: LogOptions): RootLog {
  const lines = typeof destination === 'object' ? destination : new LineWriter(destination);
  const at = (own: LogLevel): Log['info'] =>
    LEVELS.indexOf(own) < LEVELS.indexOf(level)
      ? () => {}
      : (fields, message) => void lines.write(lineOf(own, fields, message));
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    flush: () => (lines instanceof LineWriter ? lines.flushSync() : undefined),
  };
}

/** The second that was last written, up to its full stop; most lines share it with the one before. */
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

/** Characters that stand for themselves in a JSON string. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** As JSON.stringify writes it, and sooner for a usual text. */
export function quoted(text: string | null): string {
  if (text === null) return 'null';
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** What cannot be written must not fail the one who logs it. */
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

/** For how long lines wait for others to be written with. */
const GATHERING_MS = 10;

/** Hands on together what came within a few milliseconds: a line by itself costs as much as all of them. */
class LineWriter {
  readonly #stream: ReturnType<typeof pino.destination>;
  #lines: string[] = [];

  /** The file is opened here and not by pino, which opens it later and cannot flush before. */
  constructor(destination: number | string) {
    const fd = typeof destination === 'string' ? openSync(destination, 'a') : destination;
    this.#stream = pino.destination({ dest: fd, sync: false, maxLength: BUFFERED_BYTES_MAX });
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.#lines.push(line) === 1) systemClock.after(GATHERING_MS, () => this.#handOn(), { unref: true });
  }

  flushSync(): void {
    this.#handOn();
    this.#stream.flushSync();
  }

  #handOn(): void {
    const lines = this.#lines;
    if (lines.length === 0) return;
    // Before they are written: a write that fails must not keep them, and those to come, for ever.
    this.#lines = [];
    this.#stream.write(lines.join(''));
  }
}

export interface ErrorFields {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: ErrorFields;
}

const MESSAGE_CHARACTERS_MAX = 1000;
const CAUSES_MAX = 3;

/** What a log line says of an error, under `error`; the stack only when someone debugs. */
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

/** Anything can be thrown, even what cannot be made a string. */
function describeOther(thrown: unknown): string {
  return typeof thrown === 'object' || typeof thrown === 'function'
    ? 'Not an Error was thrown.'
    : shorten(String(thrown));
}

function shorten(text: string): string {
  return text.length <= MESSAGE_CHARACTERS_MAX ? text : `${text.slice(0, MESSAGE_CHARACTERS_MAX)}…`;
}
