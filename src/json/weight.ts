import { BACKSLASH, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';

const LF = 0x0a;
const CR = 0x0d;
const CONTAINER_WEIGHT = 8;
const STRING_WEIGHT = 8;
const BYTE_WEIGHT = 1 / 4;
const TEXT_BYTE_WEIGHT = 1 / 8;

/**
 * About how long parsing these bytes takes, in units of 100 ns: objects, lists and keys cost far more than numbers, and these more than
 * the text of strings. The bytes may be a frame with several lines: no string of JSON has a line break, so none hides the next line.
 * Stops counting above the maximum.
 */
export function weighJson(bytes: Uint8Array, max: number): number {
  let weight = 0;
  let at = 0;
  while (at < bytes.length && weight <= max) {
    const byte = bytes[at++];
    weight += BYTE_WEIGHT;
    if (byte === OPEN_BRACKET || byte === OPEN_BRACE) weight += CONTAINER_WEIGHT;
    if (byte !== QUOTE) continue;
    const end = endOfText(bytes, at);
    weight += STRING_WEIGHT + (end - at) * TEXT_BYTE_WEIGHT;
    at = bytes[end] === QUOTE ? end + 1 : end;
  }
  return weight;
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

/** The position of the quote or line break that ends this text, or the end of the bytes. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE || isLineEnd(byte)) return at;
    at += byte === BACKSLASH && !isLineEnd(bytes[at + 1]) ? 2 : 1;
  }
  return bytes.length;
}

const CONTAINER_HEAP_BYTES = 64;
const QUOTE_HEAP_BYTES = 12;

/**
 * About how much memory the value of this JSON takes: a list of empty lists takes fourteen times as much as its text. Counted in its
 * bytes, because reading the characters of a long string can take V8 sixty times as long.
 */
export function heapBytesOfJson(json: Uint8Array): number {
  let bytes = json.length;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) bytes += QUOTE_HEAP_BYTES;
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) bytes += CONTAINER_HEAP_BYTES;
  }
  return bytes;
}
