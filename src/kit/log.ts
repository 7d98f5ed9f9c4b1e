import { openSync } from 'node:fs';
import pino from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type LogFields = Readonly<Record<string, unknown>>;

/** What the product logs to: fields first, then one sentence. What must not be logged is the caller's matter. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
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

export function createLog({ level, destination }: LogOptions): RootLog {
  const buffered = typeof destination === 'object' ? null : bufferedDestination(destination);
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    buffered ?? (destination as pino.DestinationStream),
  );
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => buffered?.flushSync(),
  };
}

/** Opened here and not by pino, which opens files later and cannot flush before. */
function bufferedDestination(destination: number | string): ReturnType<typeof pino.destination> {
  const fd = typeof destination === 'string' ? openSync(destination, 'a') : destination;
  return pino.destination({ dest: fd, sync: false, maxLength: BUFFERED_BYTES_MAX });
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
