import { LIMITS } from '../../limits.ts';
import type { Members } from './members.ts';

/**
 * UTF-8 bytes of the text in members that the wire does not know, at any depth. A client that gets them has received
 * content, even if the frame has no words. Numbers and flags are not content. Images have many bytes and few tokens, so
 * each member counts only up to a limit.
 */
export function extraBytes(members: Members, known: ReadonlySet<string>): number {
  let bytes = 0;
  for (const name in members) if (!known.has(name)) bytes += contentBytes(members[name]);
  return bytes;
}

export function contentBytes(value: unknown): number {
  return Math.min(textBytesIn(value), LIMITS.frameExtraBytesMax);
}

/** UTF-8 bytes of all strings in a value, without the names of members. */
function textBytesIn(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  // A list instead of recursion: a host may nest as deeply as it likes.
  const waiting: object[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const member of Object.values(next)) {
      if (typeof member === 'string') bytes += Buffer.byteLength(member);
      else if (typeof member === 'object' && member !== null) waiting.push(member);
    }
  }
  return bytes;
}

/** Hosts describe themselves in every frame: fingerprints, tiers, ids. Only text beyond that is content. */
export function beyondMetadata(bytes: number): number {
  return Math.max(bytes - LIMITS.frameMetadataBytesMax, 0);
}
