import type { Random } from '../../test/random.ts';

/** Bytes that parsers care about. */
const BYTES_OF_NOTE = Buffer.from('\r\n\0 \t:;"=,/0aAfF\\\x0b\x0c\x1f\x7f\x80\x85\xa0\xff', 'latin1');

type Mutation = (random: Random, bytes: Buffer, another: () => Buffer) => Buffer;

const MUTATIONS: readonly Mutation[] = [
  function flipBit(random, bytes) {
    const at = random.below(bytes.length);
    return replaced(bytes, at, at + 1, Buffer.from([bytes[at]! ^ (1 << random.below(8))]));
  },
  function setByte(random, bytes) {
    const at = random.below(bytes.length);
    return replaced(bytes, at, at + 1, byteOfNote(random));
  },
  function insertByte(random, bytes) {
    const at = random.below(bytes.length + 1);
    return replaced(bytes, at, at, byteOfNote(random));
  },
  function deleteBytes(random, bytes) {
    const at = random.below(bytes.length);
    return replaced(bytes, at, at + random.between(1, 4), Buffer.alloc(0));
  },
  function repeatSlice(random, bytes) {
    const at = random.below(bytes.length);
    const slice = bytes.subarray(at, at + random.between(1, 40));
    return replaced(bytes, at, at, slice);
  },
  function spliceSlice(random, bytes, another) {
    const other = another();
    const from = random.below(other.length);
    const at = random.below(bytes.length);
    return replaced(bytes, at, at + random.below(20), other.subarray(from, from + random.between(1, 60)));
  },
  function spoilLineEnd(random, bytes) {
    const at = bytes.indexOf('\r\n', random.below(bytes.length));
    if (at === -1) return bytes;
    return replaced(
      bytes,
      at,
      at + 2,
      Buffer.from(random.pick(['\n', '\r', '\r\r\n', '\n\r', '', '\r\n\r\n', '\r\n ']), 'latin1'),
    );
  },
  function repeatLine(random, bytes) {
    const start = bytes.indexOf('\r\n', random.below(bytes.length));
    const end = start === -1 ? -1 : bytes.indexOf('\r\n', start + 2);
    return end === -1 ? bytes : replaced(bytes, end, end, bytes.subarray(start, end));
  },
  function cutShort(random, bytes) {
    return bytes.subarray(0, random.between(1, bytes.length));
  },
];

/** One to three changes to a message. */
export function mutate(random: Random, bytes: Buffer, another: () => Buffer): Buffer {
  let mutated = bytes;
  for (let left = random.pick([1, 1, 2, 3]); left > 0 && mutated.length > 0; left--) {
    mutated = random.pick(MUTATIONS)(random, mutated, another);
  }
  return mutated.length === 0 ? bytes : mutated;
}

function byteOfNote(random: Random): Buffer {
  const at = random.below(BYTES_OF_NOTE.length);
  return BYTES_OF_NOTE.subarray(at, at + 1);
}

function replaced(bytes: Buffer, from: number, to: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(Math.min(to, bytes.length))]);
}
