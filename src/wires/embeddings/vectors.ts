/** A vector: numbers from JSON, or decoded floats. */
type Vector = readonly number[] | Float32Array;

/** Decodes base64 of little-endian 32-bit floats, the compact form of this wire; null if it is invalid. */
export function decodeVector(base64: string): Float32Array | null {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0 || !isWholly(bytes, base64)) return null;
  const vector = new Float32Array(bytes.length / 4);
  for (let at = 0; at < vector.length; at++) vector[at] = bytes.readFloatLE(at * 4);
  return vector;
}

/** Node's decoder skips invalid characters, so they are checked here. */
function isWholly(bytes: Buffer, base64: string): boolean {
  return base64.length === Math.ceil(bytes.length / 3) * 4;
}

export function encodeVector(vector: Vector): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let at = 0; at < vector.length; at++) bytes.writeFloatLE(vector[at]!, at * 4);
  return bytes.toString('base64');
}

/** The first dimensions of a Matryoshka-trained vector, normalised to unit length. */
export function reduceVector(vector: Vector, dimensions: number): number[] {
  const cut = Array.from(vector.slice(0, dimensions));
  let squares = 0;
  for (const value of cut) squares += value * value;
  const norm = Math.sqrt(squares);
  return norm === 0 ? cut : cut.map((value) => value / norm);
}

/** Reads a vector in either form; null if a number is missing or not finite. */
export function readVector(embedding: unknown): Vector | null {
  const values = typeof embedding === 'string' ? decodeVector(embedding) : embedding;
  if (values instanceof Float32Array) return values.every(Number.isFinite) ? values : null;
  return Array.isArray(values) && values.length > 0 && values.every(Number.isFinite) ? values : null;
}
