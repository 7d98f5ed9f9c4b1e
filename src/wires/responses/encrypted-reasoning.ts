import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isWrappedForeign, unwrapForeign, wrapForeign } from '../fields/foreign-reasoning.ts';
import { isText, type Members } from '../fields/members.ts';

/** The vendor of this wire's encrypted reasoning. */
export const RESPONSES_VENDOR = 'responses';

/** The vendor whose encrypted reasoning a host makes and takes back. */
export function reasoningVendor({ seals }: HostQuirks): string {
  return seals === undefined || seals === 'any' ? RESPONSES_VENDOR : seals;
}

/**
 * Wraps encrypted reasoning of another vendor than the wire's own with that vendor's name, for clients of this wire.
 * Unwrapped, it could be sent back to any host of this wire.
 */
export function wrapEncrypted(item: Members, quirks: HostQuirks): boolean {
  const vendor = reasoningVendor(quirks);
  if (vendor === RESPONSES_VENDOR || item.type !== 'reasoning' || !isText(item.encrypted_content)) return false;
  item.encrypted_content = wrapForeign({ vendor, form: 'encrypted', data: item.encrypted_content });
  return true;
}

/** The encrypted reasoning for a host of this vendor; null if another vendor made it. */
export function unwrapEncrypted(data: string, vendor: string): string | null {
  if (!isWrappedForeign(data)) return vendor === RESPONSES_VENDOR ? data : null;
  const foreign = unwrapForeign(data);
  return foreign?.vendor === vendor && foreign.form === 'encrypted' ? foreign.data : null;
}

/** The opaque part of a reasoning item, unwrapped if another vendor made it. */
export function readOpaque(item: Members, vendor = RESPONSES_VENDOR): OpaqueReasoning | null {
  const data = item.encrypted_content;
  if (!isText(data)) return null;
  const foreign = unwrapForeign(data);
  if (foreign !== null) return foreign;
  const opaque = { vendor, form: 'encrypted', data } as const;
  return isText(item.id) ? { ...opaque, id: item.id } : opaque;
}

/** The encrypted content that a client of this wire gets and sends back. */
export function writeOpaque(opaque: OpaqueReasoning): string {
  return isOwn(opaque) ? opaque.data : wrapForeign(opaque);
}

/** Encrypted reasoning may go back only to hosts of the vendor that made it. */
export function isOwn(opaque: OpaqueReasoning, vendor = RESPONSES_VENDOR): boolean {
  return opaque.vendor === vendor && opaque.form === 'encrypted';
}
