import { type HashText, nodeHash } from './hash-tree.ts';

/** A sibling hash on the path from a leaf to the root, and on which side of the path it is. */
export type PathStep = { readonly left: HashText } | { readonly right: HashText };

/** A tree as in RFC 6962 of which some subtrees are known, enough for the paths that are asked for. */
export class PartialTree {
  /** By level; then by the place among the complete subtrees of that level. */
  readonly #known: Map<number, HashText>[] = [];

  /** The root of a complete subtree with 2^level leaves. `place` counts the subtrees of this size, from the left. */
  put(level: number, place: number, hash: HashText): void {
    this.#at(level).set(place, hash);
  }

  /** The roots of the complete subtrees over the first `leaves` leaves, the largest first. */
  putPeaks(leaves: number, peaks: Uint8Array): void {
    const bytes = Buffer.from(peaks);
    let first = 0;
    let at = 0;
    for (let level = 52; level >= 0; level--) {
      const size = 2 ** level;
      if (Math.floor(leaves / size) % 2 === 0) continue;
      this.put(level, first / size, bytes.toString('latin1', at, at + 32));
      first += size;
      at += 32;
    }
  }

  root(size: number): HashText {
    return this.#hash(0, size);
  }

  /** From a leaf to the root over the first `size` leaves. Throws a RangeError if a hash is missing. */
  path(index: number, size: number): PathStep[] {
    const steps: PathStep[] = [];
    let [first, end] = [0, size];
    while (end - first > 1) {
      const middle = first + largestBelow(end - first);
      if (index < middle) {
        steps.push({ right: this.#hash(middle, end) });
        end = middle;
      } else {
        steps.push({ left: this.#hash(first, middle) });
        first = middle;
      }
    }
    return steps.reverse();
  }

  #hash(first: number, end: number): HashText {
    const size = end - first;
    const level = Math.log2(size);
    const isComplete = Number.isInteger(level);
    const known = isComplete ? this.#at(level).get(first / size) : undefined;
    if (known !== undefined) return known;
    if (size <= 1) throw new RangeError(`The hash of leaf ${first} is missing.`);
    const middle = first + largestBelow(size);
    const hash = nodeHash(this.#hash(first, middle), this.#hash(middle, end));
    if (isComplete) this.put(level, first / size, hash);
    return hash;
  }

  #at(level: number): Map<number, HashText> {
    this.#known[level] ??= new Map();
    return this.#known[level];
  }
}

/** The root that a leaf and its path lead to. */
export function rootOfPath(leaf: HashText, path: readonly PathStep[]): HashText {
  return path.reduce<HashText>(
    (hash, step) => ('left' in step ? nodeHash(step.left, hash) : nodeHash(hash, step.right)),
    leaf,
  );
}

/** The largest power of two below the number. */
function largestBelow(size: number): number {
  return 2 ** (Math.ceil(Math.log2(size)) - 1);
}
