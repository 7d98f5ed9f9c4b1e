import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/any-character.ts';
import { HashTree, leafHash } from './hash-tree.ts';

/** The leaves and roots with which Certificate Transparency's implementations are tested. */
const LEAVES = ['', '\0', '\x10', ' !', '01', '@ABC', 'PQRSTUVW', '`abcdefghijklmno'];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** The definition of RFC 6962, word for word. */
function rootOf(leaves: readonly string[]): Buffer {
  if (leaves.length === 0) return hash('sha256', '', 'buffer');
  if (leaves.length === 1) return hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(leaves[0]!)]), 'buffer');
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  const parts = [rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half))];
  return hash('sha256', Buffer.concat([Buffer.of(1), ...parts]), 'buffer');
}

function treeOf(leaves: readonly string[], tree = new HashTree()): HashTree {
  for (const leaf of leaves) tree.append(leafHash(leaf));
  return tree;
}

describe('a hash tree', () => {
  it('has the roots of the published test vectors', () => {
    const roots = LEAVES.map((_, last) => treeOf(LEAVES.slice(0, last + 1)).root.toString('hex'));
    expect(roots).toEqual(ROOTS);
    expect(new HashTree().root).toEqual(hash('sha256', '', 'buffer'));
  });

  it('has the root that RFC 6962 defines, even when it is stored and continued', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter }), { maxLength: 70 }), fc.nat(70), (leaves, cut) => {
        const first = treeOf(leaves.slice(0, cut));
        const stored = new HashTree(first.leaves, first.peaks);
        const whole = treeOf(leaves.slice(cut), stored);
        expect(whole.root).toEqual(rootOf(leaves));
        expect(whole.peaks).toEqual(treeOf(leaves).peaks);
      }),
      { numRuns: 25 },
    );
  });

  it('refuses peaks that do not fit the number of leaves', () => {
    expect(() => new HashTree(3, treeOf(['a']).peaks)).toThrow(RangeError);
    expect(() => new HashTree(1, new Uint8Array(31))).toThrow(RangeError);
  });
});
