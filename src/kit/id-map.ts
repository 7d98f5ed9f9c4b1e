const PLACES_MIN = 16;

/** Each id as two halves, because comparing bigints is slow. */
const scratch = new BigInt64Array(1);
const scratchHalves = new Int32Array(scratch.buffer);

/**
 * Values by id, for what every call needs: a Map hashes and compares bigints in slow calls, and leaves old tables behind when
 * it changes often. Ids have 64 bits and are never 0. They are our own, so nobody can choose them to meet in one place.
 * `NumberTable` finds places by the same rules in memory of another layout; code that serves both made this map a seventh slower.
 */
export class IdMap<Value> {
  /** The halves of the id at a place; both are 0 if it is free. At most half of the places are taken. */
  #halves = new Int32Array(2 * PLACES_MIN);
  #values = freePlaces<Value>(PLACES_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: bigint): Value | undefined {
    return this.#values[this.#find(id)];
  }

  set(id: bigint, value: Value): void {
    if (id === 0n) throw new RangeError('No id is 0.');
    if (2 * this.#size >= this.#values.length) this.#grow();
    const at = this.#find(id);
    if (this.#isFree(at)) this.#size++;
    this.#put(at, scratchHalves[0]!, scratchHalves[1]!, value);
  }

  /** Returns whether it was there. */
  delete(id: bigint): boolean {
    const at = this.#find(id);
    if (this.#isFree(at)) return false;
    this.#size--;
    this.#remove(at);
    return true;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#halves = new Int32Array(2 * PLACES_MIN);
    this.#values = freePlaces(PLACES_MIN);
    this.#size = 0;
  }

  values(): Value[] {
    return this.#values.filter((_value, at) => !this.#isFree(at)) as Value[];
  }

  /** The place of the id, or the free one that it would take. Leaves its halves in the scratch space. */
  #find(id: bigint): number {
    scratch[0] = id;
    const low = scratchHalves[0]!;
    const high = scratchHalves[1]!;
    const halves = this.#halves;
    const mask = this.#values.length - 1;
    let at = hashOf(low, high) & mask;
    while (halves[2 * at] !== low || halves[2 * at + 1] !== high) {
      if (halves[2 * at] === 0 && halves[2 * at + 1] === 0) break;
      at = (at + 1) & mask;
    }
    return at;
  }

  #isFree(at: number): boolean {
    return this.#halves[2 * at] === 0 && this.#halves[2 * at + 1] === 0;
  }

  #put(at: number, low: number, high: number, value: Value | undefined): void {
    this.#halves[2 * at] = low;
    this.#halves[2 * at + 1] = high;
    this.#values[at] = value;
  }

  /** Moves later entries forward that are not in their first place: between that and an entry no place may be free. */
  #remove(at: number): void {
    const mask = this.#values.length - 1;
    let hole = at;
    for (let next = (hole + 1) & mask; !this.#isFree(next); next = (next + 1) & mask) {
      const [low, high] = [this.#halves[2 * next]!, this.#halves[2 * next + 1]!];
      const fromFirst = (next - hashOf(low, high)) & mask;
      if (fromFirst < ((next - hole) & mask)) continue;
      this.#put(hole, low, high, this.#values[next]);
      hole = next;
    }
    this.#put(hole, 0, 0, undefined);
  }

  #grow(): void {
    const [halves, values] = [this.#halves, this.#values];
    this.#halves = new Int32Array(2 * halves.length);
    this.#values = freePlaces(2 * values.length);
    for (let from = 0; from < values.length; from++) {
      const [low, high] = [halves[2 * from]!, halves[2 * from + 1]!];
      if (low === 0 && high === 0) continue;
      scratchHalves[0] = low;
      scratchHalves[1] = high;
      this.#put(this.#find(scratch[0]!), low, high, values[from]);
    }
  }
}

function freePlaces<Value>(count: number): (Value | undefined)[] {
  return new Array<Value | undefined>(count).fill(undefined);
}

/**
 * Ids differ mostly in their middle bits, by time and by process. Those are the upper bits of the lower half, and a product
 * only carries bits up, so they are moved down before it too: a small table uses only the lowest bits.
 */
export function hashOf(low: number, high: number): number {
  const halves = low ^ Math.imul(high, 0x9e3779b1);
  const mixed = Math.imul(halves ^ (halves >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
