import type { OpaqueReasoning } from '../../canonical/request.ts';
import { openForeign, sealForeign } from '../foreign-reasoning.ts';
import { isText, type Members } from '../members.ts';

/** Whose encrypted reasoning this wire's hosts make. */
export const RESPONSES_VENDOR = 'responses';

/** The opaque part of a reasoning item; what another vendor made comes back in the wrapping we gave it. */
export function readOpaque(item: Members): OpaqueReasoning | null {
  const data = item.encrypted_content;
  if (!isText(data)) return null;
  const foreign = openForeign(data);
  if (foreign !== null) return foreign;
  const opaque = { vendor: RESPONSES_VENDOR, form: 'encrypted', data } as const;
  return isText(item.id) ? { ...opaque, id: item.id } : opaque;
}

/** What a client of this wire is given to send back. */
export function writeOpaque(opaque: OpaqueReasoning): string {
  return isOwn(opaque) ? opaque.data : sealForeign(opaque);
}

/** Only what this wire's own hosts encrypted may go back to one of them. */
export function isOwn(opaque: OpaqueReasoning): boolean {
  return opaque.vendor === RESPONSES_VENDOR && opaque.form === 'encrypted';
}
