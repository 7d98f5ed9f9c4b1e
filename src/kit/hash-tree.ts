import { hash } from 'node:crypto';

/** Bytes of one hash. */
const HASH_BYTES = 32;

/** A SHA-256 hash as a string with one character per byte, which is faster to create than a Buffer. */
export type HashText = string;

/** Leaves and nodes begin with different bytes, so that a node cannot be passed off as a leaf. */
export function leafHash(text: string): HashText {
  return hash('sha256', `\0${text}`, 'binary');
}

const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

export function nodeHash(left: HashText, right: HashText): HashText {
  node.write(left, 1, 'latin1');
  node.write(right, 1 + HASH_BYTES, 'latin1');
  return hash('sha256', node, 'binary');
}

/**
 * A Merkle tree as in RFC 6962, section 2.1, to which leaves are appended. It keeps only the roots of its complete
 * subtrees, the largest first: one for each bit that is set in the number of leaves. They are enough to append more.
 */
export class HashTree {
  readonly #peaks: HashText[];
  #leaves: number;

  /** Continues a tree that has this many leaves and these peaks. */
  constructor(leaves = 0, peaks: Uint8Array = new Uint8Array(0)) {
    this.#leaves = leaves;
    this.#peaks =
      Buffer.from(peaks)
        .toString('latin1')
        .match(/.{1,32}/gs) ?? [];
    if (peaks.length !== onesIn(leaves) * HASH_BYTES)
      throw new RangeError(`${leaves} leaves need a different number of peaks.`);
  }

  get leaves(): number {
    return this.#leaves;
  }

  /** The roots of the complete subtrees, one after the other. */
  get peaks(): Buffer {
    return Buffer.from(this.#peaks.join(''), 'latin1');
  }

  get root(): Buffer {
    let root = this.#peaks.at(-1) ?? hash('sha256', '', 'binary');
    for (let at = this.#peaks.length - 2; at >= 0; at--) root = nodeHash(this.#peaks[at]!, root);
    return Buffer.from(root, 'latin1');
  }

  /** Returns the root of the subtree of 2^level leaves if this leaf completes one. */
  append(leaf: HashText, level = -1): HashText | null {
    let last = leaf;
    let height = 0;
    let completed: HashText | null = null;
    for (let size = this.#leaves; size % 2 === 1; size = Math.floor(size / 2)) {
      last = nodeHash(this.#peaks.pop()!, last);
      if (++height === level) completed = last;
    }
    this.#peaks.push(last);
    this.#leaves += 1;
    return completed;
  }
}

function onesIn(count: number): number {
  let ones = 0;
  for (let rest = count; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}
