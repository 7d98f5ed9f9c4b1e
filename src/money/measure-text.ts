import { normalizedBytes } from '../kit/normalized-bytes.ts';
import { LIMITS } from '../limits.ts';

/** A tokenizer that we have. */
export interface KnownTokenizer {
  /** Splits a text into the pieces that are merged separately. It has the flag `g`. */
  readonly pieces: RegExp;
  countTokens(text: string): number;
}

/** What the bound on a text's tokens is computed from. */
export interface TextMeasure {
  /**
   * By the known tokenizer: of the whole text, or of its ASCII runs without their digits if the model's own tokenizer is
   * another one.
   */
  readonly tokens: number;
  /** Of ASCII characters other than digits. */
  readonly asciiBytes: number;
  /** Of digits, and of all other characters in UTF-8 or in their NFKC form, whichever is longer. */
  readonly otherBytes: number;
}

/** Work that can be interrupted: each `next()` handles at most about `LIMITS.tokenCountSliceChars`. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Measures a text for a model that uses this tokenizer itself. Such tokenizers do not normalise. */
export function* measureExactly(text: string, tokenizer: KnownTokenizer): Steps<TextMeasure> {
  const tokens = yield* countTokens(text, tokenizer);
  const otherBytes = Buffer.byteLength(text);
  return { tokens, asciiBytes: 0, otherBytes };
}

const RUNS = /\p{ASCII}+|\P{ASCII}+/gu;

/**
 * Measures a text for a model whose tokenizer is not known: it may normalise, may split rare characters into bytes, and
 * may make a token of every digit.
 */
export function* measureRuns(text: string, tokenizer: KnownTokenizer): Steps<TextMeasure> {
  let tokens = 0;
  let asciiBytes = 0;
  let otherBytes = 0;
  let sinceStep = 0;
  for (const [run] of text.matchAll(RUNS)) {
    if (run.charCodeAt(0) < 0x80) {
      const digits = countDigits(run);
      tokens += (yield* countTokens(run, tokenizer)) - digits.tokens;
      asciiBytes += run.length - digits.bytes;
      otherBytes += digits.bytes;
    } else otherBytes += normalizedBytes(run);
    sinceStep += run.length;
    if (sinceStep < LIMITS.tokenCountSliceChars) continue;
    sinceStep = 0;
    yield;
  }
  return { tokens, asciiBytes, otherBytes };
}

/** Known tokenizers split digits into groups of three from the left, and each group is one token. */
const DIGITS_PER_TOKEN = 3;

function countDigits(text: string): { readonly tokens: number; readonly bytes: number } {
  let tokens = 0;
  let bytes = 0;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) {
      run = 0;
      continue;
    }
    if (run++ % DIGITS_PER_TOKEN === 0) tokens++;
    bytes++;
  }
  return { tokens, bytes };
}

/** Counts slice by slice. Slices end between two pieces, so the sum is the count of the whole text. */
function* countTokens(text: string, { pieces, countTokens: count }: KnownTokenizer): Steps<number> {
  let tokens = 0;
  let start = 0;
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    const end = index + piece.length;
    const isLong = piece.length > LIMITS.tokenCountPieceCharsMax;
    if (!isLong && end - start < LIMITS.tokenCountSliceChars) continue;
    tokens += isLong
      ? count(text.slice(start, index)) + (yield* countLongPiece(piece, count))
      : count(text.slice(start, end));
    start = end;
    yield;
  }
  return tokens + count(text.slice(start));
}

/**
 * Merging takes time quadratic in the length of a piece, so a long one is cut. A cut can only prevent merges around it;
 * the token added for each cut covers texts that merge better without one.
 */
function* countLongPiece(piece: string, count: KnownTokenizer['countTokens']): Steps<number> {
  let tokens = 0;
  for (let start = 0; start < piece.length; ) {
    const end = cutBefore(piece, start + LIMITS.tokenCountPieceCharsMax);
    tokens += count(piece.slice(start, end)) + 1;
    if (start % LIMITS.tokenCountSliceChars > end % LIMITS.tokenCountSliceChars) yield;
    start = end;
  }
  return tokens;
}

/** Never between the halves of a surrogate pair. */
function cutBefore(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

const ESCAPE = /\\u([0-9a-f]{4})/gi;

/**
 * The forms in which a host may put a tool's schema or arguments into the prompt: as sent, with the caller's escapes
 * resolved, with non-ASCII characters escaped, and each once more as a JSON string. The first is the one sent.
 */
export function toolRenderings(text: string): string[] {
  const resolved = text.replace(ESCAPE, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  const plain = resolved === text ? [text] : [text, resolved];
  const forms = Buffer.byteLength(resolved) === resolved.length ? plain : [...plain, escapeNonAscii(resolved)];
  return [...forms, ...forms.map((form) => JSON.stringify(form))];
}

function escapeNonAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
