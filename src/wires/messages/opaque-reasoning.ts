import type { OpaqueReasoning } from '../../canonical/request.ts';
import { isWrappedForeign, unwrapForeign, wrapForeign } from '../fields/foreign-reasoning.ts';
import { VENDOR } from './vendor-headers.ts';

/** Marks reasoning of a model that signs nothing: this vendor's hosts refuse it, so it must not reach them. */
const UNSIGNED = wrapForeign({ vendor: 'none', form: 'signature', data: '' });

/** The signature of a block of reasoning; null if it has none. */
export function signedOpaque(signature: string): OpaqueReasoning | null {
  return signature === '' || signature === UNSIGNED ? null : { vendor: VENDOR, form: 'signature', data: signature };
}

export function redactedOpaque(data: string): OpaqueReasoning {
  return { vendor: VENDOR, form: 'redacted', data };
}

/** Aggregators call redacted blocks encrypted. */
export function isOwnRedacted({ vendor, form }: OpaqueReasoning): boolean {
  return vendor === VENDOR && form !== 'signature';
}

export function isOwnSignature({ vendor, form }: OpaqueReasoning): boolean {
  return vendor === VENDOR && form === 'signature';
}

/** Opaque reasoning of another vendor goes into the signature too: clients send that member back unchanged. */
export function writeSignature(opaque: OpaqueReasoning | null): string {
  if (opaque === null) return UNSIGNED;
  return isOwnSignature(opaque) ? opaque.data : wrapForeign(opaque);
}

/** Opaque reasoning that a caller sends back; null if there is none, or if its wrapper is invalid. */
export function readSignature(signature: string): OpaqueReasoning | null {
  const isForeign = signature !== UNSIGNED && isWrappedForeign(signature);
  return isForeign ? unwrapForeign(signature) : signedOpaque(signature);
}
