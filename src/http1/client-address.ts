import { BlockList, isIP } from 'node:net';

/** Addresses and networks like `10.0.0.0/8` whose `X-Forwarded-For` is believed. */
export type TrustedProxies = (address: string) => boolean;

const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** Entries of one header that are looked at: no real request passes as many proxies. */
const HOPS_MAX = 32;

/** Null if the text is neither an address nor a network. */
export function readNetwork(
  text: string,
): { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' } | null {
  const [, address = '', bitsText] = NETWORK.exec(text) ?? [];
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return null;
  const bitsMax = version === 4 ? 32 : 128;
  const bits = bitsText === undefined ? bitsMax : Number(bitsText);
  return bits > bitsMax ? null : { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Throws if an entry cannot be read; the configuration is checked before. */
export function trustedProxies(networks: readonly string[]): TrustedProxies {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const text of networks) {
    const network = readNetwork(text);
    if (network === null) throw new Error(`${text} is not an address or a network.`);
    list.addSubnet(network.address, network.bits, network.family);
  }
  return (address) => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The address of the client: the peer's, or, if that is a trusted proxy, the last entry of `X-Forwarded-For` that is not
 * one. Entries before it were written by the client. An entry that is not an address ends the search at the proxy that sent it.
 */
export function clientAddress(
  peerAddress: string | null,
  forwardedFor: string | undefined,
  isTrusted: TrustedProxies,
): string | null {
  const peer = peerAddress === null ? null : readAddress(peerAddress);
  if (peer === null || forwardedFor === undefined || !isTrusted(peer)) return peer;
  let client = peer;
  for (const entry of forwardedFor.split(',').slice(-HOPS_MAX).reverse()) {
    const address = readAddress(entry.trim());
    if (address === null) return client;
    client = address;
    if (!isTrusted(address)) return client;
  }
  return client;
}

/** Whether an untrusted proxy forwards requests: then all clients behind it count as one. */
export function isUntrustedProxy(
  peerAddress: string | null,
  forwardedFor: string | undefined,
  isTrusted: TrustedProxies,
): boolean {
  const peer = peerAddress === null ? null : readAddress(peerAddress);
  return forwardedFor !== undefined && peer !== null && !isTrusted(peer);
}

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An address without port and brackets; an IPv4-mapped IPv6 address becomes IPv4. Null if it is not an address. */
function readAddress(text: string): string | null {
  const [, four, six] = WITH_PORT.exec(text) ?? [];
  const bare = four ?? six ?? text;
  const address = MAPPED.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 || address.includes('%') ? null : address;
}

/** What limits count as one client: an IPv4 address, or a /64 network, which one IPv6 client has to itself. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  const groups = [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.slice(0, 4).join(':')}::/64`;
}
