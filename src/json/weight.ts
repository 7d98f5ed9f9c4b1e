import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from './bytes.ts';

const CONTAINER_WEIGHT = 8;
const QUOTE_WEIGHT = 4;
const BYTES_PER_UNIT = 4;

/**
 * About how long parsing these bytes takes, in units of 100 ns: objects, lists and keys cost far more than the text of strings or
 * numbers. Brackets inside of strings count too, so that nothing has to be understood. Stops counting above the maximum.
 */
export function weighJson(bytes: Uint8Array, max: number): number {
  let weight = bytes.length / BYTES_PER_UNIT;
  for (let at = 0; at < bytes.length && weight <= max; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) weight += QUOTE_WEIGHT;
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) weight += CONTAINER_WEIGHT;
  }
  return weight;
}
