/**
 * The simulator's own tokenizer, simple enough to count by eye:
 * a token is up to eight letters or digits with the one space before them, or any other single character.
 * Letters are a-z, A-Z, 0-9, the underscore and everything beyond ASCII; a surrogate pair is never cut.
 *
 * Two properties that tests check: a text never has more tokens than UTF-8 bytes, and
 * the first n tokens of a text, taken as a text of their own, are n tokens again.
 */
const WORD_UNITS_MAX = 8;
const SPACE = 0x20;

/** One entry per code unit, because every character of every prompt is looked up here. */
const IS_WORD_UNIT = new Uint8Array(0x10000).fill(1, 0x80);
for (const char of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_')
  IS_WORD_UNIT[char.charCodeAt(0)] = 1;

function isPairCutAt(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** Where the token that begins at `start` ends. Never reads past the end, where a character code would be NaN and slow. */
export function tokenEnd(text: string, start: number): number {
  const { length } = text;
  let at = start;
  if (text.charCodeAt(at) === SPACE && at + 1 < length && IS_WORD_UNIT[text.charCodeAt(at + 1)] === 1) at++;
  if (IS_WORD_UNIT[text.charCodeAt(at)] !== 1) return at + 1;
  const limit = Math.min(at + WORD_UNITS_MAX, length);
  while (at < limit && IS_WORD_UNIT[text.charCodeAt(at)] === 1) at++;
  return at === limit && at < length && isPairCutAt(text, at) ? at + 1 : at;
}

export function countTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at = tokenEnd(text, at)) tokens++;
  return tokens;
}

/** The first tokens of a text, at most `max` of them. */
export function takeTokens(text: string, max: number): { text: string; tokens: number } {
  let tokens = 0;
  let at = 0;
  while (at < text.length && tokens < max) {
    at = tokenEnd(text, at);
    tokens++;
  }
  return { text: at < text.length ? text.slice(0, at) : text, tokens };
}

/** The text in pieces of `perPiece` tokens; the last piece may have fewer. */
export function splitTokens(text: string, perPiece: number): { text: string; tokens: number }[] {
  const pieces: { text: string; tokens: number }[] = [];
  let from = 0;
  while (from < text.length) {
    let at = from;
    let tokens = 0;
    while (at < text.length && tokens < perPiece) {
      at = tokenEnd(text, at);
      tokens++;
    }
    pieces.push({ text: text.slice(from, at), tokens });
    from = at;
  }
  return pieces;
}
