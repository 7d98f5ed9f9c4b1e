/** Longest token of any known tokenizer, in characters, apart from white space and repeated characters. */
const TOKEN_CHARS_MAX = 32;
/** Some tokenizers merge frequent words; that saves them at most a quarter. */
const TOKENS_PER_WORD = 0.75;

/**
 * A lower bound on the tokens of these texts with any tokenizer: one token per word, more for long words. Reading stops
 * when the bound exceeds `enough`.
 */
export function leastTokens(texts: readonly string[], enough: number): number {
  let words = 0;
  for (const text of texts) {
    words += leastWords(text, enough / TOKENS_PER_WORD - words);
    if (words * TOKENS_PER_WORD > enough) break;
  }
  return Math.floor(words * TOKENS_PER_WORD);
}

/** White space may disappear, and a run of one character may be one token, so neither counts. */
function leastWords(text: string, enough: number): number {
  let words = 0;
  let charsLeft = 0;
  let before = SPACE;
  for (let at = 0; at < text.length && words <= enough + 1; at++) {
    const char = text.charCodeAt(at);
    if (isSpace(char)) charsLeft = 0;
    else if (charsLeft === 0) {
      words++;
      charsLeft = TOKEN_CHARS_MAX;
    } else if (char !== before) charsLeft--;
    before = char;
  }
  return words;
}

const SPACE = 0x20;
const OTHER_SPACES = /\s/;

function isSpace(char: number): boolean {
  if (char < 0x80) return char <= SPACE;
  return char >= 0xa0 && char <= 0x3000 && OTHER_SPACES.test(String.fromCharCode(char));
}

/**
 * Every piece that is long enough to be cut for counting contains such a run. It is looked for only where a run begins:
 * otherwise a text of runs that are slightly shorter would be read about 60 times.
 */
const LONG_RUN = /(?<!\S)\S{128,}|(?<!\s)\s{128,}/g;
/** A search with random and repeated tokens found cuts that add up to 7 tokens, including the one that is added for each cut. */
const TOKENS_PER_CUT = 16;

/** How much too high a count of these texts may be. */
export function countSurplus(texts: readonly string[], pieceCharsMax: number): number {
  let cuts = 0;
  for (const text of texts) {
    // A part may be one character shorter, and the piece longer than the run.
    for (const [run] of text.matchAll(LONG_RUN)) cuts += Math.ceil(run.length / (pieceCharsMax - 1)) + 1;
  }
  return cuts * TOKENS_PER_CUT;
}

/** The most tokens of a piece that is not cut: one for each byte, of which a character has up to 3. */
export function pieceTokensMax(pieceCharsMax: number): number {
  return pieceCharsMax * 3;
}

/** The beginning of the texts; null if they are not longer than that. */
export function prefixOf(texts: readonly string[], chars: number): string[] | null {
  const prefix: string[] = [];
  let left = chars;
  for (const text of texts) {
    if (text.length > left) return [...prefix, text.slice(0, left)];
    prefix.push(text);
    left -= text.length;
  }
  return null;
}
