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

/** The numbers of one thread. If there are too many, the id that was added first is forgotten, or none is added. */
export class LocalNumbers implements NumbersById {
  readonly idsMax: number;
  readonly #forgets: boolean;
  #numbers = new Map<bigint, number>();

  constructor(idsMax = Number.POSITIVE_INFINITY, forgets = true) {
    this.idsMax = idsMax;
    this.#forgets = forgets;
  }

  get size(): number {
    return this.#numbers.size;
  }

  lock(): void {
    // One thread has nobody to lock out.
  }

  unlock(): void {
    // As above.
  }

  get(id: bigint): number | undefined {
    return this.#numbers.get(id);
  }

  set(id: bigint, value: number): boolean {
    const numbers = this.#numbers;
    if (numbers.size >= this.idsMax && !numbers.has(id)) {
      if (!this.#forgets) return false;
      numbers.delete(numbers.keys().next().value!);
    }
    numbers.set(id, value);
    return true;
  }

  delete(id: bigint): void {
    this.#numbers.delete(id);
  }

  takeAll(): Map<bigint, number> {
    const taken = this.#numbers;
    this.#numbers = new Map();
    return taken;
  }
}

/** An id may be in any of this many places, beginning with the one that its hash names. */
const PLACES = 32;
const LOCK_BYTES = 8;
const ID_BYTES = 8;
const NUMBER_BYTES = 8;

export interface SharedNumbersTerms {
  /** From `SharedNumbers.memoryFor`. */
  readonly memory: SharedArrayBuffer;
  /** Whether the smallest number near an id's place may be forgotten if there is no room. */
  readonly forgets: boolean;
}

/**
 * Numbers that the threads of a process share: a hash table in shared memory, changed under one lock. No id is 0. Ids are
 * our own, so nobody can choose them to meet in one place.
 */
export class SharedNumbers implements NumbersById {
  readonly #lock: SharedLock;
  readonly #forgets: boolean;
  readonly #numbers: Float64Array;
  /** Each id as two halves, because reading it as one would allocate a bigint. */
  readonly #halves: Int32Array;
  readonly #mask: number;
  readonly #scratch = new BigInt64Array(1);
  readonly #scratchHalves = new Int32Array(this.#scratch.buffer);

  constructor({ memory, forgets }: SharedNumbersTerms) {
    const ids = (memory.byteLength - LOCK_BYTES) / (ID_BYTES + NUMBER_BYTES);
    this.#lock = new SharedLock(new Int32Array(memory, 0, 1));
    this.#forgets = forgets;
    this.#numbers = new Float64Array(memory, LOCK_BYTES, ids);
    this.#halves = new Int32Array(memory, LOCK_BYTES + ids * NUMBER_BYTES, 2 * ids);
    this.#mask = ids - 1;
  }

  get idsMax(): number {
    return this.#mask + 1;
  }

  /** `ids` is a power of two. Memory that is never written to takes no room. */
  static memoryFor(ids: number): SharedArrayBuffer {
    return new SharedArrayBuffer(LOCK_BYTES + ids * (ID_BYTES + NUMBER_BYTES));
  }

  get size(): number {
    let size = 0;
    for (let at = 0; at <= this.#mask; at++) if (!this.#isFree(at)) size++;
    return size;
  }

  lock(): void {
    this.#lock.lock();
  }

  unlock(): void {
    this.#lock.unlock();
  }

  get(id: bigint): number | undefined {
    const at = this.#find(id);
    return at === -1 ? undefined : this.#numbers[at];
  }

  set(id: bigint, value: number): boolean {
    const found = this.#find(id);
    const at = found === -1 ? this.#room() : found;
    if (at === -1) return false;
    this.#halves[2 * at] = this.#scratchHalves[0]!;
    this.#halves[2 * at + 1] = this.#scratchHalves[1]!;
    this.#numbers[at] = value;
    return true;
  }

  delete(id: bigint): void {
    const at = this.#find(id);
    if (at !== -1) this.#clear(at);
  }

  takeAll(): Map<bigint, number> {
    const taken = new Map<bigint, number>();
    for (let at = 0; at <= this.#mask; at++) {
      if (this.#isFree(at)) continue;
      this.#scratchHalves[0] = this.#halves[2 * at]!;
      this.#scratchHalves[1] = this.#halves[2 * at + 1]!;
      taken.set(this.#scratch[0]!, this.#numbers[at]!);
      this.#clear(at);
    }
    return taken;
  }

  /** Leaves the id's halves in the scratch space. */
  #find(id: bigint): number {
    this.#scratch[0] = id;
    const [low, high] = [this.#scratchHalves[0]!, this.#scratchHalves[1]!];
    const first = this.#firstPlace(low, high);
    for (let step = 0; step < PLACES; step++) {
      const at = (first + step) & this.#mask;
      if (this.#halves[2 * at] === low && this.#halves[2 * at + 1] === high) return at;
    }
    return -1;
  }

  /** Where the id in the scratch space may be written; -1 if nowhere. */
  #room(): number {
    const first = this.#firstPlace(this.#scratchHalves[0]!, this.#scratchHalves[1]!);
    let smallest = first & this.#mask;
    for (let step = 0; step < PLACES; step++) {
      const at = (first + step) & this.#mask;
      if (this.#isFree(at)) return at;
      if (this.#numbers[at]! < this.#numbers[smallest]!) smallest = at;
    }
    return this.#forgets ? smallest : -1;
  }

  #firstPlace(low: number, high: number): number {
    const mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    return mixed ^ (mixed >>> 15);
  }

  #isFree(at: number): boolean {
    return this.#halves[2 * at] === 0 && this.#halves[2 * at + 1] === 0;
  }

  #clear(at: number): void {
    this.#halves[2 * at] = 0;
    this.#halves[2 * at + 1] = 0;
  }
}
