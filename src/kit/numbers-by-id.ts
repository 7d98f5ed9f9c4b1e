import { hashOf } from './id-map.ts';
import { SharedLock } from './shared-lock.ts';

/** Numbers by id, of a limited number of ids. To read a number and then change it, lock them first. */
export interface NumbersById {
  lock(): void;
  unlock(): void;
  get(id: bigint): number | undefined;
  /** Returns false if there is no room for another id. */
  set(id: bigint, value: number): boolean;
  delete(id: bigint): void;
  /** Removes all numbers and returns them. */
  takeAll(): Map<bigint, number>;
  /** The number of ids. */
  readonly size: number;
  readonly idsMax: number;
}

const FIRST_PLACES = 64;

/** The numbers of one thread, in a table that is replaced by a larger one when half of its places are taken. */
export class LocalNumbers implements NumbersById {
  /** A power of two, or infinite. */
  readonly idsMax: number;
  readonly #forgets: boolean;
  #table: NumberTable;

  /** `forgets`: see `NumberTable`. */
  constructor(idsMax = Number.POSITIVE_INFINITY, forgets = true) {
    this.idsMax = idsMax;
    this.#forgets = forgets;
    this.#table = NumberTable.ofThread(Math.min(FIRST_PLACES, idsMax), forgets);
  }

  get size(): number {
    return this.#table.size;
  }

  lock(): void {
    // One thread has nobody to lock out.
  }

  unlock(): void {
    // As above.
  }

  get(id: bigint): number | undefined {
    return this.#table.get(id);
  }

  set(id: bigint, value: number): boolean {
    const { size, idsMax } = this.#table;
    if (2 * size >= idsMax && idsMax < this.idsMax) this.#grow();
    return this.#table.set(id, value);
  }

  delete(id: bigint): void {
    this.#table.delete(id);
  }

  takeAll(): Map<bigint, number> {
    return this.#table.takeAll();
  }

  #grow(): void {
    const larger = NumberTable.ofThread(2 * this.#table.idsMax, this.#forgets);
    for (const [id, value] of this.#table.takeAll()) larger.set(id, value);
    this.#table = larger;
  }
}

/** An id may be in any of this many places, beginning with the one that its hash names. */
const PLACES = 32;
/** The lock and the number of ids have a cache line of their own, so that an entry never spans two. */
const HEADER_BYTES = 64;
/** The two halves of an id, which are 32-bit integers, and a number of 64 bits. */
const ENTRY_BYTES = 16;

interface NumberTableTerms {
  /** From `NumberTable.sharedMemory`, if several threads use it. */
  readonly memory: ArrayBuffer | SharedArrayBuffer;
  /** Whether the smallest number near an id's place may be forgotten if there is no room. */
  readonly forgets: boolean;
}

/**
 * A hash table in one piece of memory, which the threads of a process may share; then it has a lock. No id is 0. Ids are our
 * own, so nobody can choose them to meet in one place. Not a Map: V8 hashes and compares bigints in slow calls, and a call
 * needs dozens of these numbers.
 */
export class NumberTable implements NumbersById {
  readonly #lock: SharedLock | null;
  readonly #forgets: boolean;
  /** One word: how many ids there are. Counting them whenever somebody asks would stop calls for milliseconds. */
  readonly #size: Int32Array;
  /** The number of the entry at a place is at twice the place plus one. */
  readonly #numbers: Float64Array;
  /** Each id as two halves, at four times its place, because reading it as one would allocate a bigint. */
  readonly #halves: Int32Array;
  readonly #mask: number;
  readonly #scratch = new BigInt64Array(1);
  readonly #scratchHalves = new Int32Array(this.#scratch.buffer);

  constructor({ memory, forgets }: NumberTableTerms) {
    this.#lock = memory instanceof SharedArrayBuffer ? new SharedLock(new Int32Array(memory, 0, 1)) : null;
    this.#forgets = forgets;
    this.#size = new Int32Array(memory, Int32Array.BYTES_PER_ELEMENT, 1);
    this.#numbers = new Float64Array(memory, HEADER_BYTES);
    this.#halves = new Int32Array(memory, HEADER_BYTES);
    this.#mask = (memory.byteLength - HEADER_BYTES) / ENTRY_BYTES - 1;
  }

  /** A table for this thread alone. `ids` is a power of two. */
  static ofThread(ids: number, forgets: boolean): NumberTable {
    return new NumberTable({ memory: new ArrayBuffer(bytesFor(ids)), forgets });
  }

  /** `ids` is a power of two. Memory that is never written to takes no room. */
  static sharedMemory(ids: number): SharedArrayBuffer {
    return new SharedArrayBuffer(bytesFor(ids));
  }

  get idsMax(): number {
    return this.#mask + 1;
  }

  get size(): number {
    return this.#size[0]!;
  }

  lock(): void {
    this.#lock?.lock();
  }

  unlock(): void {
    this.#lock?.unlock();
  }

  get(id: bigint): number | undefined {
    const at = this.#find(id);
    return at === -1 ? undefined : this.#numbers[2 * at + 1];
  }

  set(id: bigint, value: number): boolean {
    const found = this.#find(id);
    const at = found === -1 ? this.#room() : found;
    if (at === -1) return false;
    if (found === -1 && this.#isFree(at)) this.#size[0]!++;
    this.#halves[4 * at] = this.#scratchHalves[0]!;
    this.#halves[4 * at + 1] = this.#scratchHalves[1]!;
    this.#numbers[2 * at + 1] = value;
    return true;
  }

  delete(id: bigint): void {
    const at = this.#find(id);
    if (at === -1) return;
    this.#size[0]!--;
    this.#remove(at);
  }

  takeAll(): Map<bigint, number> {
    const taken = new Map<bigint, number>();
    const halves = this.#halves;
    for (let at = 0; at < halves.length; at += 4) {
      if (halves[at] === 0 && halves[at + 1] === 0) continue;
      this.#scratchHalves[0] = halves[at]!;
      this.#scratchHalves[1] = halves[at + 1]!;
      taken.set(this.#scratch[0]!, this.#numbers[at / 2 + 1]!);
      this.#clear(at / 4);
    }
    this.#size[0] = 0;
    return taken;
  }

  /** Leaves the id's halves in the scratch space. */
  #find(id: bigint): number {
    this.#scratch[0] = id;
    const low = this.#scratchHalves[0]!;
    const high = this.#scratchHalves[1]!;
    const first = hashOf(low, high);
    for (let step = 0; step < PLACES; step++) {
      const at = (first + step) & this.#mask;
      if (this.#isFree(at)) return -1;
      if (this.#halves[4 * at] === low && this.#halves[4 * at + 1] === high) return at;
    }
    return -1;
  }

  /** Where the id in the scratch space may be written; -1 if nowhere. */
  #room(): number {
    const [low, high] = this.#scratchHalves as unknown as [number, number];
    if (low === 0 && high === 0) return -1;
    const first = hashOf(low, high);
    let smallest = first & this.#mask;
    for (let step = 0; step < PLACES; step++) {
      const at = (first + step) & this.#mask;
      if (this.#isFree(at)) return at;
      if (this.#numbers[2 * at + 1]! < this.#numbers[2 * smallest + 1]!) smallest = at;
    }
    return this.#forgets ? smallest : -1;
  }

  #isFree(at: number): boolean {
    return this.#halves[4 * at] === 0 && this.#halves[4 * at + 1] === 0;
  }

  /** Moves later entries forward that are not in their first place: between that and an entry no place may be free. */
  #remove(at: number): void {
    let hole = at;
    for (let step = 1; step < PLACES; step++) {
      const next = (hole + step) & this.#mask;
      if (this.#isFree(next)) break;
      const first = hashOf(this.#halves[4 * next]!, this.#halves[4 * next + 1]!) & this.#mask;
      if (((next - first) & this.#mask) < step) continue;
      this.#halves.copyWithin(4 * hole, 4 * next, 4 * next + 4);
      hole = next;
      step = 0;
    }
    this.#clear(hole);
  }

  #clear(at: number): void {
    this.#halves[4 * at] = 0;
    this.#halves[4 * at + 1] = 0;
  }
}

function bytesFor(ids: number): number {
  return HEADER_BYTES + ids * ENTRY_BYTES;
}
