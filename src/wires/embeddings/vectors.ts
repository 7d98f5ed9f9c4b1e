/** Base64 of little-endian 32-bit floats, as this wire writes vectors in the short form. */
export function decodeVector(base64: string): Float32Array | null {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
  const vector = new Float32Array(bytes.length / 4);
  for (let at = 0; at < vector.length; at++) vector[at] = bytes.readFloatLE(at * 4);
  return vector;
}

export function encodeVector(vector: ArrayLike<number>): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let at = 0; at < vector.length; at++) bytes.writeFloatLE(vector[at]!, at * 4);
  return bytes.toString('base64');
}

/** The first dimensions of a Matryoshka-trained vector, brought back to unit length. */
export function reduceVector(vector: ArrayLike<number>, dimensions: number): number[] {
  const cut = Array.from({ length: dimensions }, (_, at) => vector[at]!);
  const norm = Math.hypot(...cut);
  return norm === 0 ? cut : cut.map((value) => value / norm);
}
