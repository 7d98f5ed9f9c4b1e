import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PartialTree, rootOfPath } from './hash-path.ts';
import { type HashText, HashTree, leafHash } from './hash-tree.ts';

const LEVEL = 3;

/** A tree of this many leaves, and the roots of its complete subtrees of eight. */
function grown(size: number): { tree: HashTree; leaves: HashText[]; chunks: HashText[] } {
  const tree = new HashTree();
  const leaves = Array.from({ length: size }, (_, at) => leafHash(`leaf ${at}`));
  const chunks = leaves.flatMap((leaf) => tree.append(leaf, LEVEL) ?? []);
  return { tree, leaves, chunks };
}

const sizes = fc.integer({ min: 1, max: 200 });

test('the path of every leaf leads to the root, with only its own subtree and the tail read', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), (size, at) => {
      const { tree, leaves, chunks } = grown(size);
      const index = at % size;
      const partial = new PartialTree();
      for (const [place, hash] of chunks.entries()) partial.put(LEVEL, place, hash);
      const isRead = (leaf: number): boolean => leaf >> LEVEL === index >> LEVEL || leaf >> LEVEL === size >> LEVEL;
      for (const [leaf, hash] of leaves.entries()) if (isRead(leaf)) partial.put(0, leaf, hash);
      const root = rootOfPath(leaves[index]!, partial.path(index, size));
      expect(Buffer.from(root, 'latin1')).toEqual(tree.root);
      expect(partial.root(size)).toBe(root);
    }),
  );
});

test('leaves that are gone are replaced by the peaks over them', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), (size, at, many) => {
      const { tree, leaves } = grown(size);
      const gone = many % size;
      const index = gone + (at % (size - gone));
      const partial = new PartialTree();
      partial.putPeaks(gone, grown(gone).tree.peaks);
      for (const [leaf, hash] of leaves.entries()) if (leaf >= gone) partial.put(0, leaf, hash);
      const root = rootOfPath(leaves[index]!, partial.path(index, size));
      expect(Buffer.from(root, 'latin1')).toEqual(tree.root);
    }),
  );
});

test('a path with a missing hash is not made up', () => {
  const partial = new PartialTree();
  partial.put(0, 0, leafHash('a'));
  expect(() => partial.path(0, 2)).toThrow(new RangeError('The hash of leaf 1 is missing.'));
});

test('another leaf, or a changed step, leads to another root', () => {
  const { leaves } = grown(5);
  const partial = new PartialTree();
  for (const [leaf, hash] of leaves.entries()) partial.put(0, leaf, hash);
  const path = partial.path(2, 5);
  const root = rootOfPath(leaves[2]!, path);
  expect(rootOfPath(leaves[3]!, path)).not.toBe(root);
  expect(rootOfPath(leaves[2]!, path.toReversed())).not.toBe(root);
  const [first] = path;
  const turned = 'left' in first! ? { right: first.left } : { left: first!.right };
  expect(rootOfPath(leaves[2]!, [turned, ...path.slice(1)])).not.toBe(root);
});
