import { isIP } from 'node:net';

/** What kind of non-public address it is. Completes the sentence "The URL leads to …". */
type AddressKind = string;

interface Block {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  readonly kind: AddressKind;
}

const PRIVATE = 'an address of a private network';
const LOOPBACK = 'a loopback address';
const LINK_LOCAL = 'a link-local address, where clouds keep their metadata';
const MULTICAST = 'a multicast address';
const DOCUMENTATION = 'an address reserved for documentation';
const PROTOCOLS = "an address reserved for the internet's own protocols";
const BENCHMARKS = 'an address reserved for benchmarks';
const UNSPECIFIED = 'an address of "this network"';
const RESERVED = 'a reserved address';
const CARRIES_IPV4 = 'an IPv6 address that carries an IPv4 address';

/**
 * IPv4 blocks without public servers: the IANA registry of special-purpose addresses (whole blocks, even if single
 * addresses in them are reachable), multicast, and the one cloud metadata service that has a public address.
 */
export const FORBIDDEN_IPV4: readonly (readonly [block: string, kind: AddressKind])[] = [
  ['0.0.0.0/8', UNSPECIFIED],
  ['10.0.0.0/8', PRIVATE],
  ['100.64.0.0/10', "an address of a carrier's shared network"],
  ['127.0.0.0/8', LOOPBACK],
  ['168.63.129.16/32', 'the address of a cloud metadata service'],
  ['169.254.0.0/16', LINK_LOCAL],
  ['172.16.0.0/12', PRIVATE],
  ['192.0.0.0/24', PROTOCOLS],
  ['192.0.2.0/24', DOCUMENTATION],
  ['192.31.196.0/24', PROTOCOLS],
  ['192.52.193.0/24', PROTOCOLS],
  ['192.88.99.0/24', PROTOCOLS],
  ['192.168.0.0/16', PRIVATE],
  ['192.175.48.0/24', PROTOCOLS],
  ['198.18.0.0/15', BENCHMARKS],
  ['198.51.100.0/24', DOCUMENTATION],
  ['203.0.113.0/24', DOCUMENTATION],
  ['224.0.0.0/4', MULTICAST],
  ['240.0.0.0/4', RESERVED],
];

/** The first block that matches counts. Only 2000::/3 is allocated, so the last rows cover everything else. */
export const FORBIDDEN_IPV6: readonly (readonly [block: string, kind: AddressKind])[] = [
  ['2001::/32', `${CARRIES_IPV4} (Teredo)`],
  ['2001::/23', PROTOCOLS],
  ['2001:db8::/32', DOCUMENTATION],
  ['2002::/16', `${CARRIES_IPV4} (6to4)`],
  ['2620:4f:8000::/48', PROTOCOLS],
  ['3ffe::/16', RESERVED],
  ['3fff::/20', DOCUMENTATION],
  ['::/128', UNSPECIFIED],
  ['::1/128', LOOPBACK],
  ['::ffff:0:0/96', `${CARRIES_IPV4} (mapped)`],
  ['::/96', `${CARRIES_IPV4} (compatible)`],
  ['64:ff9b::/96', `${CARRIES_IPV4} (NAT64)`],
  ['64:ff9b:1::/48', `${CARRIES_IPV4} (NAT64)`],
  ['fc00::/7', PRIVATE],
  ['fe80::/10', LINK_LOCAL],
  ['fec0::/10', PRIVATE],
  ['ff00::/8', MULTICAST],
  ['::/3', RESERVED],
  ['4000::/2', RESERVED],
  ['8000::/1', RESERVED],
];

const BLOCKS: readonly Block[] = [...FORBIDDEN_IPV4, ...FORBIDDEN_IPV6].map(([block, kind]) => readBlock(block, kind));

/** Why an address is forbidden, or null if it is public. An unreadable address is forbidden. */
export function whatForbids(address: string): AddressKind | null {
  const family = isIP(address);
  if (family === 0) return 'something that is not an address';
  if (address.includes('%')) return 'an address with a zone, which is valid on one machine only';
  const bits = addressBits(address);
  const found = BLOCKS.find((block) => block.family === family && block.first <= bits && bits <= block.last);
  return found?.kind ?? null;
}

export function isLoopback(address: string): boolean {
  return whatForbids(address) === LOOPBACK;
}

/** Compares addresses, not their spelling. */
export function sameAddress(one: string, other: string): boolean {
  if (isIP(one) !== isIP(other) || isIP(one) === 0) return one === other;
  return addressBits(one) === addressBits(other);
}

function readBlock(block: string, kind: AddressKind): Block {
  const [start = '', length] = block.split('/');
  const family = isIP(start) === 4 ? 4 : 6;
  const first = addressBits(start);
  const last = first + (1n << BigInt((family === 4 ? 32 : 128) - Number(length))) - 1n;
  return { family, first, last, kind };
}

/** The address as a number. Only for text that `isIP` accepts. */
function addressBits(address: string): bigint {
  const withoutZone = address.split('%', 1)[0]!;
  return isIP(withoutZone) === 4 ? joinBits(withoutZone.split('.').map(Number), 8n) : ipv6Bits(withoutZone);
}

function ipv6Bits(address: string): bigint {
  const [head = '', tail] = address.split('::');
  const before = ipv6Groups(head);
  const after = tail === undefined ? [] : ipv6Groups(tail);
  const between = Array<number>(8 - before.length - after.length).fill(0);
  return joinBits([...before, ...between, ...after], 16n);
}

/** Groups of 16 bits. The last two may be written as an IPv4 address. */
function ipv6Groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function joinBits(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((bits, part) => (bits << width) | BigInt(part), 0n);
}
