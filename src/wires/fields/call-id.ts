import { createHash } from 'node:crypto';

const DIGEST_CHARS = 24;

/**
 * The id of a tool call as this host takes it. Ids of other vendors may be empty, too long, or have characters that it
 * refuses. A call and its result are changed the same way, and different ids stay different.
 */
export function acceptedCallId(id: string, accepted: RegExp): string {
  if (accepted.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, DIGEST_CHARS)}`;
}

const PLAIN_ID = /^[a-zA-Z0-9]*$/;

/** The same for a host whose ids have exactly this many letters and digits. */
export function plainCallId(id: string, chars: number): string {
  if (id.length === chars && PLAIN_ID.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, chars);
}
