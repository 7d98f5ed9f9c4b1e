import type { Price } from '../money/price.ts';
import type { Candidate } from './directory.ts';

/** What the order of hosts depends on, besides the hosts. */
export interface CallTraits {
  /** The most this call could cost at a price. */
  costAt(price: Price): bigint;
  /** A hash that calls with the same start of a prompt share, to reach the same prompt cache; computed only if needed. */
  affinity(): number;
}

/**
 * The hosts to try, in order: the cheapest for this call first; among equal prices, the one that has probably cached the
 * prompt. Ejected hosts come last, for when all others have failed. A host whose key was rejected is left out.
 */
export function chooseHosts(candidates: readonly Candidate[], nowMs: number, traits: CallTraits): Candidate[] {
  const usable: Candidate[] = [];
  const aside: Candidate[] = [];
  for (const candidate of candidates) {
    if (isUsable(candidate, nowMs)) usable.push(candidate);
    else if (!isClosed(candidate, nowMs)) aside.push(candidate);
  }
  return [...inOrder(usable, traits), ...inOrder(aside, traits)];
}

/** Healthy, or due for a probe. */
export function isUsable({ health, hostModel }: Candidate, nowMs: number): boolean {
  if (health === null) return true;
  const availability = health.availability(hostModel, nowMs);
  return availability === 'open' || availability === 'probe';
}

export function isClosed({ health, hostModel }: Candidate, nowMs: number): boolean {
  return health !== null && health.availability(hostModel, nowMs) === 'closed';
}

interface Offer {
  readonly candidate: Candidate;
  readonly costNanousd: bigint;
}

function inOrder(candidates: readonly Candidate[], traits: CallTraits): readonly Candidate[] {
  if (candidates.length < 2) return candidates;
  let affinity: number | null = null;
  const scoreOf = ({ host }: Candidate): number => {
    affinity ??= traits.affinity();
    return mix(affinity, hashText(host.row.name));
  };
  const { price } = candidates[0]!;
  const isOnePrice = candidates.every((candidate) => candidate.price === price);
  const offers = candidates.map(
    (candidate): Offer => ({ candidate, costNanousd: isOnePrice ? 0n : traits.costAt(candidate.price) }),
  );
  return offers
    .toSorted((a, b) => {
      if (a.costNanousd !== b.costNanousd) return a.costNanousd < b.costNanousd ? -1 : 1;
      const isResold = Number(isReseller(a.candidate)) - Number(isReseller(b.candidate));
      return isResold === 0 ? scoreOf(b.candidate) - scoreOf(a.candidate) : isResold;
    })
    .map(({ candidate }) => candidate);
}

/** A reseller adds a hop and saves nothing. */
function isReseller({ host }: Candidate): boolean {
  return host.row.reseller === true;
}

const HASH_BASIS = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

/** FNV-1a, 32 bits: the same in every process and after every restart. */
export function hashBytes(bytes: Uint8Array, start = 0, end = bytes.length, basis = HASH_BASIS): number {
  let hash = basis;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, HASH_PRIME);
  return hash >>> 0;
}

export function hashText(text: string, basis = HASH_BASIS): number {
  return hashBytes(Buffer.from(text), 0, undefined, basis);
}

/** Mixes both numbers, so that each host is first for an equal share of prompts. */
function mix(affinity: number, host: number): number {
  let mixed = affinity ^ Math.imul(host, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
