import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../../test/random-cases.ts';
import { FORBIDDEN_IPV4, FORBIDDEN_IPV6, isLoopback, sameAddress, whatForbids } from './address.ts';

interface Range {
  readonly block: string;
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

const BITS = { 4: 32n, 6: 128n };

function rangeOf(block: string, family: 4 | 6): Range {
  const [start = '', length] = block.split('/');
  const first = family === 4 ? fromIpv4(start) : fromIpv6(start);
  return { block, family, first, last: first + (1n << (BITS[family] - BigInt(length!))) - 1n };
}

const fromIpv4 = (text: string): bigint => text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);

function fromIpv6(text: string): bigint {
  const [head = '', tail = ''] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function spell(bits: bigint, family: 4 | 6): string {
  const width = family === 4 ? 8n : 16n;
  const parts = Array.from({ length: family === 4 ? 4 : 8 }, (_, at) => {
    return (bits >> (BITS[family] - width * BigInt(at + 1))) & ((1n << width) - 1n);
  });
  return parts.map((part) => part.toString(family === 4 ? 10 : 16)).join(family === 4 ? '.' : ':');
}

const RANGES = [
  ...FORBIDDEN_IPV4.map(([block]) => rangeOf(block, 4)),
  ...FORBIDDEN_IPV6.map(([block]) => rangeOf(block, 6)),
];

const inSome = (bits: bigint, family: 4 | 6): boolean =>
  RANGES.some((range) => range.family === family && range.first <= bits && bits <= range.last);

describe('forbidden addresses', () => {
  it.each(RANGES)('are all of $block, from its first to its last', ({ first, last, family }) => {
    for (const edge of [first, last]) expect(whatForbids(spell(edge, family))).not.toBeNull();
    fc.assert(
      fc.property(fc.bigInt({ min: first, max: last }), (bits) => {
        expect(whatForbids(spell(bits, family))).not.toBeNull();
      }),
    );
  });

  it.each(RANGES)('are not the neighbours of $block, unless these are another block', ({ first, last, family }) => {
    for (const neighbour of [first - 1n, last + 1n]) {
      if (neighbour < 0n || neighbour >= 1n << BITS[family]) continue;
      expect(whatForbids(spell(neighbour, family)) !== null).toBe(inSome(neighbour, family));
    }
  });

  it('are exactly those of the listed blocks', () => {
    for (const family of [4, 6] as const) {
      // Half of them are in the allocated block; otherwise nearly all IPv6 addresses would be reserved.
      const given = family === 4 ? { min: 0n, max: 0xdfff_ffffn } : { min: 0x2n << 124n, max: (0x4n << 124n) - 1n };
      const any = fc.oneof(fc.bigInt(given), fc.bigInt({ min: 0n, max: (1n << BITS[family]) - 1n }));
      fc.assert(
        fc.property(any, (bits) => {
          expect(whatForbids(spell(bits, family)) !== null).toBe(inSome(bits, family));
        }),
        { numRuns: randomCases(2_000) },
      );
    }
  });

  it('include everything outside 2000::/3, also what is not allocated yet', () => {
    const outside = fc.oneof(
      fc.bigInt({ min: 0n, max: (0x2n << 124n) - 1n }),
      fc.bigInt({ min: 0x4n << 124n, max: (1n << 128n) - 1n }),
    );
    fc.assert(
      fc.property(outside, (bits) => {
        expect(whatForbids(spell(bits, 6))).not.toBeNull();
      }),
    );
  });

  it('include IPv6 addresses that carry an IPv4 address, even a public one', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        for (const carrying of [
          `::ffff:${address}`,
          `::ffff:${hex}`,
          `::${address}`,
          `64:ff9b::${address}`,
          `64:ff9b:1::${hex}`,
          `2002:${hex}::1`,
          `2001:0:${hex}::1`,
        ]) {
          expect(whatForbids(carrying)).not.toBeNull();
        }
      }),
    );
  });

  it('include everything that is not a readable address', () => {
    const odd = ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4:80', '[::1]', '2606:2800::1%eth0', ' 93.184.216.34'];
    for (const text of odd) expect(whatForbids(text)).not.toBeNull();
  });

  it('are reported with their kind', () => {
    expect(whatForbids('10.0.0.1')).toContain('private');
    expect(whatForbids('169.254.169.254')).toContain('metadata');
    expect(whatForbids('168.63.129.16')).toContain('metadata');
    expect(whatForbids('::ffff:8.8.8.8')).toContain('mapped');
    expect(whatForbids('::1')).toContain('loopback');
    expect(whatForbids('2001::1')).toContain('Teredo');
    expect(whatForbids('8.8.8.8')).toBeNull();
    expect(whatForbids('2606:4700:4700::1111')).toBeNull();
  });
});

describe('addresses', () => {
  it('are compared by value, not by spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(sameAddress(address, canonical)).toBe(true);
        expect(sameAddress(address.toUpperCase(), canonical)).toBe(true);
      }),
    );
    expect(sameAddress('1.2.3.4', '1.2.3.5')).toBe(false);
    expect(sameAddress('0.0.0.1', '::1')).toBe(false);
  });

  it('count as loopback in 127.0.0.0/8 and as ::1, but not if they only carry such an address', () => {
    for (const address of ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']) {
      expect(isLoopback(address)).toBe(true);
    }
    for (const address of ['126.255.255.255', '128.0.0.0', '::', '::2', '::ffff:127.0.0.1']) {
      expect(isLoopback(address)).toBe(false);
    }
  });
});
