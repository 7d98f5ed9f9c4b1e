import { checkJson, type JsonPath, jsonStringBytes, locateJson, tryParseJson } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isObject, type Members } from '../fields/members.ts';
import {
  type FoundResponse,
  type Hole,
  type HoleKind,
  partsAround,
  patternOf,
  type ResponseMemory,
  type ResponsePattern,
} from '../frames/response-memory.ts';
import { hasNoText, onlyObjectIn } from './learnable-frame.ts';

/** A response that was recognised by its bytes. */
export interface KnownResponse {
  readonly found: FoundResponse;
  readonly rawUsage: Members;
  /** The length of the model's text. */
  readonly wordBytes: number;
}

/**
 * Recognises a response that differs from an earlier one only in its id, time, text and usage. Of these only the usage is
 * parsed, and the text if it has escapes or bytes outside ASCII. Null if the whole response must be.
 */
export function findKnownResponse(body: Buffer, memory: ResponseMemory): KnownResponse | null {
  const found = memory.find(body);
  if (found === null) return null;
  const [first, second, words, usage] = found.holes as readonly [Hole, Hole, Hole, Hole];
  const id = first.kind === 'id' ? first : second;
  if (!isUsableId(body.toString('latin1', id.start, id.end))) return null;
  const wordBytes = jsonStringBytes(body, words.start, words.end);
  const rawUsage = wordBytes === null ? null : readUsage(body, usage);
  return wordBytes === null || rawUsage === null ? null : { found, rawUsage, wordBytes };
}

/** A longer one might be nested more deeply than allowed. */
const USAGE_BYTES_MAX = LIMITS.hostJsonDepthMax - 1;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function readUsage(body: Buffer, { start, end }: Hole): Members | null {
  if (body[start] !== OPEN_BRACE || body[end - 1] !== CLOSE_BRACE || end - start > USAGE_BYTES_MAX) return null;
  const usage = tryParseJson(body.toString('utf8', start, end));
  return isObject(usage) ? usage : null;
}

/** Learns from a response that needed no repair; `written` is what the caller gets, with any usage. */
export function learnResponse(memory: ResponseMemory, body: Buffer, answer: Members, written: Buffer): void {
  if (!isLearnable(answer) || !hasEachKeyOnce(body)) return;
  const pattern = learnedFrom(body, written);
  if (pattern !== null) memory.learn(pattern);
}

const OF_ANSWER = new Set(['id', 'object', 'model', 'service_tier', 'system_fingerprint']);
const OF_CHOICE = new Set(['finish_reason']);
const OF_MESSAGE = new Set(['role']);

/** Whether it has one choice with text alone, and contains nothing else that a model or a caller wrote. */
function isLearnable(answer: Members): boolean {
  const choice = onlyObjectIn(answer.choices);
  if (choice === null || !isObject(choice.message) || typeof choice.message.content !== 'string') return false;
  return (
    hasNoText({ ...answer, usage: null }, OF_ANSWER, 'choices') &&
    hasNoText(choice, OF_CHOICE, 'message') &&
    hasNoText(choice.message, OF_MESSAGE, 'content')
  );
}

/** Of duplicate keys the last counts, and editing removes the others: the bytes around the holes would not show that. */
function hasEachKeyOnce(body: Buffer): boolean {
  try {
    checkJson(body, LEARNED_LIMITS);
    return true;
  } catch {
    return false;
  }
}

const LEARNED_LIMITS = {
  depthMax: LIMITS.jsonDepthMax,
  nodesMax: LIMITS.jsonNodesMax,
  keysMax: LIMITS.jsonKeysMax,
  numberDigitsMax: LIMITS.jsonNumberDigitsMax,
  keyBytesMax: LIMITS.jsonKeyBytesMax,
};

function learnedFrom(body: Buffer, written: Buffer): ResponsePattern | null {
  const [came, leaves] = [holesOf(body), holesOf(written)];
  if (came === null || leaves === null) return null;
  const kinds = came.map(({ kind }) => kind);
  if (kinds[2] !== 'words' || kinds[3] !== 'usage' || leaves.some(({ kind }, at) => kind !== kinds[at])) return null;
  return patternOf(kinds, partsAround(body, came), partsAround(written, leaves));
}

const PATHS: Readonly<Record<HoleKind, JsonPath>> = {
  id: ['id'],
  created: ['created'],
  words: ['choices', 0, 'message', 'content'],
  usage: ['usage'],
};
const QUOTED: ReadonlySet<HoleKind> = new Set(['id', 'words']);

/** In the order of the bytes; null if one is missing. */
function holesOf(bytes: Buffer): Hole[] | null {
  const holes: Hole[] = [];
  for (const kind of Object.keys(PATHS) as HoleKind[]) {
    const span = locateJson(bytes, PATHS[kind]);
    if (span === null) return null;
    const quote = QUOTED.has(kind) ? 1 : 0;
    holes.push({ kind, start: span.start + quote, end: span.end - quote });
  }
  return holes.sort((left, right) => left.start - right.start);
}
