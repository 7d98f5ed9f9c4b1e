import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isSealedForeign, openForeign, sealForeign } from '../fields/foreign-reasoning.ts';
import { VENDOR } from './vendor.ts';

/** What a host of this wire signed; null where it signed nothing. */
export function signedOpaque(signature: string): OpaqueReasoning | null {
  return signature === '' ? null : { vendor: VENDOR, form: 'signature', data: signature };
}

export function redactedOpaque(data: string): OpaqueReasoning {
  return { vendor: VENDOR, form: 'redacted', data };
}

/** Aggregators know redacted blocks as encrypted ones. */
export function isOwnRedacted({ vendor, form }: OpaqueReasoning): boolean {
  return vendor === VENDOR && form !== 'signature';
}

export function isOwnSignature({ vendor, form }: OpaqueReasoning): boolean {
  return vendor === VENDOR && form === 'signature';
}

/** Reasoning of another vendor travels in the signature too: of all a thinking block holds, clients send that back as it was. */
export function writeSignature(opaque: OpaqueReasoning): string {
  return isOwnSignature(opaque) ? opaque.data : sealForeign(opaque);
}

/** What a caller sends back; null where nothing was signed, or where a seal of ours holds nothing of ours. */
export function readSignature(signature: string): OpaqueReasoning | null {
  return isSealedForeign(signature) ? openForeign(signature) : signedOpaque(signature);
}
