/** The bytes in pieces, cut at these places; those beyond the end count from the start again. */
export function cutBytes(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((left, right) => left - right);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}
