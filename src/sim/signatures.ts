import { createHash } from 'node:crypto';

/** What a reasoning signature is bound to. */
export interface SealTerms {
  /** The field that contains the signature, so that one kind of signature cannot be used as another. */
  readonly kind: string;
  readonly model: string;
  /** The visible part of the reasoning; changing it invalidates the signature. */
  readonly shown: string;
}

const DIGEST_BYTES = 16;

/** The opaque value that a vendor returns with reasoning and expects back unchanged; the same for the same reasoning. */
export function sealThought(terms: SealTerms, thought: string): string {
  return writeSeal(terms, createHash('sha256').update(thought).digest().subarray(0, DIGEST_BYTES));
}

/** Whether this exact value was issued for these terms. */
export function isSealOf(terms: SealTerms, given: string): boolean {
  return given === writeSeal(terms, Buffer.from(given, 'base64').subarray(0, DIGEST_BYTES));
}

function writeSeal({ kind, model, shown }: SealTerms, digest: Buffer): string {
  const proof = createHash('sha512')
    .update(JSON.stringify([kind, model, shown]))
    .update(digest)
    .digest();
  return Buffer.concat([digest, proof]).toString('base64');
}
