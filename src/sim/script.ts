import { validateHeaderName, validateHeaderValue } from '../kit/platform-http.ts';
import { LIMITS } from '../limits.ts';

/**
 * How one call behaves or fails; set by the `sim` member of a request or by the control calls. A chunk is one server-sent
 * event, including the terminator; a buffered body is one chunk. Bytes are bytes of the body.
 */
export interface SimScript {
  /** Wait this long, or for one release of this gate, before the head. */
  delayMs?: number;
  gateHead?: string;
  /** Wait this long, or for one release of this gate, before each chunk. 0 ms is one turn of the event loop, so chunks are sent separately. */
  chunkDelayMs?: number;
  gate?: string;
  /** Answer with this status; from 300 on with the vendor's error, or with `errorBody` (a string is sent as it is). */
  status?: number;
  errorBody?: unknown;
  /** Added to the response's own headers, or replacing them. */
  headers?: Record<string, string | string[]>;
  /** Stop for ever with the socket open; a number stops after this many chunks. */
  hang?: 'before-head' | 'after-head' | number;
  /** Destroy the socket, or end normally, after exactly this many bytes. */
  cutAtByte?: number;
  endAtByte?: number;
  usage?: UsageFault;
  /** An error in the stream after this many chunks, then the end without a terminator. A buffered answer is the error itself, with status 200. */
  errorAfterChunks?: number;
  errorWithUsage?: boolean;
  /** The stream ends without the wire's terminator: `[DONE]`, `message_stop`, the last event of a response. */
  omitDone?: boolean;
  /** No finish reason; on the responses wire, no item or part is marked as done. */
  omitFinish?: boolean;
  /** This finish reason, in the wire's own spelling, whatever ended the answer; on the responses wire, why it is incomplete. */
  finish?: string;
  /** Events without their `event:` lines, as some hosts send them. */
  omitEventNames?: boolean;
  /** `[DONE]` after a stream whose wire has no such terminator. */
  addDone?: boolean;
  /** Lines end in CR LF. */
  crlf?: boolean;
  /** A comment before every nth chunk. */
  commentEvery?: number;
  /** Write in pieces of this many bytes, which split events and characters. */
  splitBytes?: number;
  /** The same, slowly. */
  dribble?: { bytes: number; everyMs: number };
  /** The answer: this many words (each one token), this text, or this refusal. All override tools and formats. */
  words?: number;
  text?: string;
  refusal?: string;
  /** The answer: calls of these tools, if the request offers them all. */
  calls?: readonly ScriptedCall[];
  /**
   * A conversation: the model's answer in its first turn, its second turn and so on. The turn is counted in the request, so
   * calls beside the conversation do not disturb it. After the last turn the model answers in words.
   */
  turns?: readonly ScriptedTurn[];
  /** The conversation begins with the first user message that contains this text; requests without it are not part of it. */
  turnsAfter?: string;
  /** Reasoning is encrypted, if the wire supports it. */
  redactThinking?: boolean;
  tokensPerChunk?: number;
  /** Continues until the client leaves, whatever limit it asked for. */
  endless?: boolean;
  /** Exactly these bytes. */
  raw?: { contentType: string; base64: string };
}

export interface ScriptedCall {
  readonly name: string;
  /** A string is sent as it is, so that it can be invalid JSON. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/** One of both. */
export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
}

export type UsageFault =
  | 'omit'
  /** Cumulative, on every chunk. */
  | 'repeat'
  | 'zero'
  | 'negative'
  | 'fraction'
  | 'string'
  /** A partial count on the first chunk with content, then none; nothing in a buffered answer. */
  | 'early-only'
  | { inflate: number };

export const NO_FAULTS: SimScript = Object.freeze({});

/** An invalid script: an unknown name or a value of the wrong type. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
  readonly code: 'unknown_fault' | 'invalid_fault';
  readonly param: string;

  constructor(code: 'unknown_fault' | 'invalid_fault', param: string, message: string) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

type Check = { readonly fits: (value: unknown) => boolean; readonly expected: string };

const COUNT: Check = { fits: (value) => isIntegerFrom(value, 0), expected: 'a whole number from 0' };
const POSITIVE: Check = { fits: (value) => isIntegerFrom(value, 1), expected: 'a whole number from 1' };
const DURATION: Check = { fits: (value) => typeof value === 'number' && value >= 0, expected: 'milliseconds from 0' };
const FLAG: Check = { fits: (value) => typeof value === 'boolean', expected: 'true or false' };
const TEXT: Check = { fits: (value) => typeof value === 'string', expected: 'a string' };
const NAME: Check = { fits: (value) => typeof value === 'string' && value !== '', expected: 'a name' };
const ANYTHING: Check = { fits: () => true, expected: 'anything' };

const USAGE_FAULTS = ['omit', 'repeat', 'zero', 'negative', 'fraction', 'string', 'early-only'];

const CHECKS: { readonly [Fault in keyof Required<SimScript>]: Check } = {
  delayMs: DURATION,
  gateHead: NAME,
  chunkDelayMs: DURATION,
  gate: NAME,
  status: {
    fits: (value) => isIntegerFrom(value, 200) && (value as number) <= 599,
    expected: 'a status from 200 to 599',
  },
  errorBody: ANYTHING,
  headers: { fits: areHeaders, expected: 'an object of legal header names and values' },
  hang: {
    fits: (value) => value === 'before-head' || value === 'after-head' || isIntegerFrom(value, 0),
    expected: '"before-head", "after-head" or a number of chunks',
  },
  cutAtByte: COUNT,
  endAtByte: COUNT,
  usage: { fits: isUsageFault, expected: `one of ${USAGE_FAULTS.join(', ')} or {"inflate": factor}` },
  errorAfterChunks: COUNT,
  errorWithUsage: FLAG,
  omitDone: FLAG,
  omitFinish: FLAG,
  finish: NAME,
  omitEventNames: FLAG,
  addDone: FLAG,
  crlf: FLAG,
  commentEvery: POSITIVE,
  splitBytes: POSITIVE,
  dribble: { fits: isDribble, expected: '{"bytes": from 1, "everyMs": from 0}' },
  words: {
    fits: (value) => isIntegerFrom(value, 0) && (value as number) <= LIMITS.simWordsMax,
    expected: `a number of words up to ${LIMITS.simWordsMax}`,
  },
  text: TEXT,
  refusal: TEXT,
  calls: { fits: areCalls, expected: 'a list of {"name": string, "arguments": object or string}' },
  turns: { fits: areTurns, expected: 'a list of {"text": string} and {"calls": list of calls}' },
  turnsAfter: NAME,
  redactThinking: FLAG,
  tokensPerChunk: POSITIVE,
  endless: FLAG,
  raw: { fits: isRaw, expected: '{"contentType": string, "base64": string}' },
};

/** The first has no effect without the second. */
const NEEDS: readonly FaultPair[] = [
  ['errorWithUsage', 'errorAfterChunks'],
  ['turnsAfter', 'turns'],
];
/** These exclude each other. */
const EXCLUDES: readonly FaultPair[] = [
  ['cutAtByte', 'endAtByte'],
  ['splitBytes', 'dribble'],
  ['words', 'text'],
  ['words', 'refusal'],
  ['text', 'refusal'],
  ['calls', 'words'],
  ['calls', 'text'],
  ['calls', 'refusal'],
  ['turns', 'words'],
  ['turns', 'text'],
  ['turns', 'refusal'],
  ['turns', 'calls'],
  ['omitFinish', 'finish'],
  ['omitDone', 'addDone'],
  ['raw', 'endless'],
];
type FaultPair = readonly [keyof SimScript, keyof SimScript];

/** Refuses typos: a fault that is silently ignored would let a test pass without testing anything. */
export function readScript(value: unknown): SimScript {
  if (!isRecord(value)) throw new ScriptError('invalid_fault', 'sim', 'A script must be an object of faults.');
  for (const [name, given] of Object.entries(value)) checkFault(name, given);
  checkTogether(value);
  return value;
}

/** Faults of the request override those of the script, one by one. */
export function mergeScripts(script: SimScript, own: SimScript): SimScript {
  const merged = { ...script, ...own };
  for (const [one, other] of EXCLUDES) {
    if (own[one] !== undefined) delete merged[other];
    if (own[other] !== undefined) delete merged[one];
  }
  return merged;
}

function checkFault(name: string, value: unknown): void {
  const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof SimScript] : undefined;
  if (check === undefined) {
    const known = Object.keys(CHECKS).join(', ');
    throw new ScriptError('unknown_fault', `sim.${name}`, `Unknown fault '${name}'. Known faults: ${known}.`);
  }
  if (!check.fits(value)) {
    throw new ScriptError('invalid_fault', `sim.${name}`, `Fault '${name}' must be ${check.expected}.`);
  }
}

function checkTogether(script: SimScript): void {
  for (const [fault, other] of NEEDS) {
    if (script[fault] !== undefined && script[other] === undefined) {
      throw new ScriptError('invalid_fault', `sim.${fault}`, `Fault '${fault}' needs '${other}'.`);
    }
  }
  for (const [fault, other] of EXCLUDES) {
    if (script[fault] !== undefined && script[other] !== undefined) {
      throw new ScriptError('invalid_fault', `sim.${fault}`, `Faults '${fault}' and '${other}' exclude each other.`);
    }
  }
}

function isIntegerFrom(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isUsageFault(value: unknown): boolean {
  if (typeof value === 'string') return USAGE_FAULTS.includes(value);
  return hasOnly(value, ['inflate']) && typeof value.inflate === 'number' && value.inflate >= 0;
}

function isDribble(value: unknown): boolean {
  return hasOnly(value, ['bytes', 'everyMs']) && POSITIVE.fits(value.bytes) && DURATION.fits(value.everyMs);
}

function isRaw(value: unknown): boolean {
  return hasOnly(value, ['contentType', 'base64']) && TEXT.fits(value.contentType) && TEXT.fits(value.base64);
}

function areCalls(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isCall);
}

function isCall(value: unknown): boolean {
  if (!hasOnly(value, ['name', 'arguments']) || !NAME.fits(value.name)) return false;
  return TEXT.fits(value.arguments) || isRecord(value.arguments);
}

function areTurns(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isTurn);
}

function isTurn(value: unknown): boolean {
  if (!hasOnly(value, ['text', 'calls']) || Object.keys(value).length !== 1) return false;
  return TEXT.fits(value.text) || areCalls(value.calls);
}

function hasOnly(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).every((name) => names.includes(name));
}

function areHeaders(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([name, given]) =>
    (Array.isArray(given) ? given : [given]).every((one) => isHeader(name, one)),
  );
}

function isHeader(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
