import { createHash } from 'node:crypto';

export const EMBEDDING_DIMENSIONS = 256;

/** A unit vector that depends only on the model and the input; with fewer dimensions, its start, normalized again. */
export function embed(model: string, input: string, dimensions: number): Float32Array {
  const random = randomFrom(createHash('sha256').update(model).update('\n').update(input).digest());
  const whole = Array.from({ length: EMBEDDING_DIMENSIONS }, () => random() + random() + random() + random() - 2);
  const kept = whole.slice(0, dimensions);
  const length = Math.hypot(...kept);
  return Float32Array.from(kept, (value) => value / length);
}

/** Numbers from 0 to 1 that depend only on the seed (the splitmix32 generator). */
function randomFrom(seed: Buffer): () => number {
  let state = seed.readUInt32LE(0);
  const stride = seed.readUInt32LE(4) | 1;
  return () => {
    state = (state + stride) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** Little-endian on every machine. */
export function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}
