import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isSealedForeign, openForeign, sealForeign } from '../fields/foreign-reasoning.ts';
import { isText, type Members } from '../fields/members.ts';
import type { HostQuirks } from '../quirks.ts';

/** Whose encrypted reasoning this wire's hosts make. */
export const RESPONSES_VENDOR = 'responses';

/** Whose seals a host makes and takes back. */
export function sealVendor({ seals }: HostQuirks): string {
  return seals === undefined || seals === 'any' ? RESPONSES_VENDOR : seals;
}

/**
 * What a host of another vendor than the wire's own sealed leaves for clients of the same wire in a wrapping with its
 * name: a seal as it came could go back to any host of this wire.
 */
export function wrapSeal(item: Members, quirks: HostQuirks): boolean {
  const vendor = sealVendor(quirks);
  if (vendor === RESPONSES_VENDOR || item.type !== 'reasoning' || !isText(item.encrypted_content)) return false;
  item.encrypted_content = sealForeign({ vendor, form: 'encrypted', data: item.encrypted_content });
  return true;
}

/** The seal that a host of this vendor is given back; null for one it did not make. */
export function unwrapSeal(data: string, vendor: string): string | null {
  if (!isSealedForeign(data)) return vendor === RESPONSES_VENDOR ? data : null;
  const foreign = openForeign(data);
  return foreign?.vendor === vendor && foreign.form === 'encrypted' ? foreign.data : null;
}

/** The opaque part of a reasoning item; what another vendor made comes back in the wrapping we gave it. */
export function readOpaque(item: Members, vendor = RESPONSES_VENDOR): OpaqueReasoning | null {
  const data = item.encrypted_content;
  if (!isText(data)) return null;
  const foreign = openForeign(data);
  if (foreign !== null) return foreign;
  const opaque = { vendor, form: 'encrypted', data } as const;
  return isText(item.id) ? { ...opaque, id: item.id } : opaque;
}

/** What a client of this wire is given to send back. */
export function writeOpaque(opaque: OpaqueReasoning): string {
  return isOwn(opaque) ? opaque.data : sealForeign(opaque);
}

/** Only what a vendor's own hosts encrypted may go back to one of them. */
export function isOwn(opaque: OpaqueReasoning, vendor = RESPONSES_VENDOR): boolean {
  return opaque.vendor === vendor && opaque.form === 'encrypted';
}
