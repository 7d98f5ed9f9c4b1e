/**
 * More combining marks in a row than any language writes. Sorting a run of marks takes quadratic time, so a text with a
 * longer run is never normalised as a whole. The two letters at the end become marks when they are normalised.
 */
const LONG_RUN_OF_MARKS = /[\p{M}\uFF9E\uFF9F]{31}/u;
const SLICE_CHARS = 32;

/** Bytes of a text in UTF-8 or in its NFKC form, whichever is more: one character of 3 bytes can become 33. */
export function normalizedBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  // Only ASCII has as many bytes as characters, and it does not change.
  if (bytes === text.length) return bytes;
  return Math.max(
    bytes,
    LONG_RUN_OF_MARKS.test(text) ? decomposedBytes(text) : Buffer.byteLength(text.normalize('NFKC')),
  );
}

/** An upper bound: characters are decomposed one by one, so slices can be added up, and composing only makes it shorter. */
function decomposedBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const isSplitPair = (text.charCodeAt(at + SLICE_CHARS - 1) & 0xfc00) === 0xd800;
    const end = at + (isSplitPair ? SLICE_CHARS - 1 : SLICE_CHARS);
    bytes += Buffer.byteLength(text.slice(at, end).normalize('NFKD'));
    at = end;
  }
  return bytes;
}
