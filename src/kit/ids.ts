import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

/** 2024-01-01T00:00:00Z; 41 bits of milliseconds last until 2093. */
const EPOCH_MS = 1_704_067_200_000;
const MS_MAX = 2 ** 41 - 1;
/** How many instances can make ids at once. */
export const ID_NUMBERS = 1024;
const INSTANCE_MAX = ID_NUMBERS - 1;
const SEQUENCE_MAX = 4095;

/**
 * Makes 63-bit ids that sort by time: 41 bits of milliseconds, 10 of the instance, 12 of a sequence. Within a process
 * they always increase, even if the clock steps back. When a millisecond is full, ids use the next one at once. No id is 0,
 * even if the clock is years behind, because tables of ids mark free places with it.
 */
export class IdSource {
  readonly #clock: Clock;
  #instance: number;
  #lastMs = 0;
  #sequence = 0;

  constructor(clock: Clock, instance: number) {
    this.#clock = clock;
    this.#instance = checkedInstance(instance);
  }

  /** Makes ids of another instance from now on. */
  continueAs(instance: number): void {
    this.#instance = checkedInstance(instance);
  }

  /** All later ids are above this one, even if the clock is behind it. */
  continueAbove(id: bigint): void {
    const ms = Number(id >> 22n);
    if (ms < this.#lastMs) return;
    this.#lastMs = ms;
    this.#sequence = SEQUENCE_MAX;
  }

  /** How far the last id is ahead of the clock. */
  get aheadMs(): number {
    return Math.max(this.#lastMs + EPOCH_MS - this.#clock.nowMs(), 0);
  }

  next(): bigint {
    const ms = Math.max(Math.trunc(this.#clock.nowMs()) - EPOCH_MS, 0);
    if (ms > this.#lastMs) {
      this.#lastMs = ms;
      this.#sequence = 0;
    } else if (this.#sequence < SEQUENCE_MAX) this.#sequence++;
    else {
      this.#lastMs++;
      this.#sequence = 0;
    }
    return composeId(this.#lastMs, this.#instance, this.#sequence);
  }
}

function checkedInstance(instance: number): number {
  if (Number.isInteger(instance) && instance >= 0 && instance <= INSTANCE_MAX) return instance;
  throw new RangeError(`The instance must be a whole number from 0 to ${INSTANCE_MAX}, not ${instance}.`);
}

function composeId(ms: number, instance: number, sequence: number): bigint {
  if (ms > MS_MAX) throw new RangeError('The system clock is outside the range that ids can represent.');
  return (BigInt(ms) << 22n) | BigInt((instance << 12) | sequence);
}

/** The smallest id of that millisecond, for ranges by time. */
export function idFloorAt(ms: number): bigint {
  const sinceEpoch = Math.min(Math.max(Math.trunc(ms) - EPOCH_MS, 0), MS_MAX);
  return BigInt(sinceEpoch) << 22n;
}

export function idTimeMs(id: bigint): number {
  return Number(id >> 22n) + EPOCH_MS;
}

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_CHARACTERS = 13;
/** The two characters of every 10-bit number, so that an id takes six look-ups and one more character. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => CROCKFORD[bits >> 5]! + CROCKFORD[bits & 31]!);
const VALUES = new Map([...CROCKFORD].map((character, value) => [character, value]));

/** Writes an id with a fixed width, so that the text sorts as the ids do. */
export function formatId(prefix: string, id: bigint): string {
  if (id < 0n || id >= 1n << 63n) throw new RangeError('An id must fit in 63 bits.');
  const high = Number(id >> 30n);
  const low = Number(id & 0x3fff_ffffn);
  const top = Math.floor(high / 2 ** 20);
  // In two halves: V8 stores short strings flat, but longer joined ones as a tree of their parts.
  const first = prefix + CROCKFORD[top >> 10]! + PAIRS[top & 1023]! + PAIRS[(high >> 10) & 1023]! + PAIRS[high & 1023]!;
  const second = PAIRS[low >> 20]! + PAIRS[(low >> 10) & 1023]! + PAIRS[low & 1023]!;
  return first + second;
}

/** Null unless the text is exactly what formatId writes: each id has one spelling. */
export function parseId(prefix: string, text: string): bigint | null {
  if (text.length !== prefix.length + ID_CHARACTERS || !text.startsWith(prefix)) return null;
  let id = 0n;
  for (let at = prefix.length; at < text.length; at++) {
    const value = VALUES.get(text[at]!);
    if (value === undefined) return null;
    id = (id << 5n) | BigInt(value);
  }
  return id < 1n << 63n ? id : null;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte; larger bytes are dropped, or the first characters would be more frequent. */
const UNBIASED_BYTES = 248;

export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < UNBIASED_BYTES && text.length < length) text += BASE62[byte % 62]!;
    }
  }
  return text;
}

/** Six base62 characters that detect typing errors; not a secret, anyone can compute them. */
export function checksum6(text: string): string {
  let rest = createHash('sha256').update(text).digest().readUIntBE(0, 6);
  let checksum = '';
  for (let count = 0; count < 6; count++) {
    checksum += BASE62[rest % 62]!;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}
