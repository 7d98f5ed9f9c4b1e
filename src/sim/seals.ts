import { createHash } from 'node:crypto';

/** What a sealed thought may not be separated from. */
export interface SealTerms {
  /** Which field the seal stands in, so that one kind cannot pass for another. */
  readonly kind: string;
  readonly model: string;
  /** The part of the thought that is shown; changing it breaks the seal. */
  readonly shown: string;
}

const DIGEST_BYTES = 16;

/** The opaque value a vendor gives with a thought and wants back untouched: the same for the same thought. */
export function sealThought(terms: SealTerms, thought: string): string {
  return writeSeal(terms, createHash('sha256').update(thought).digest().subarray(0, DIGEST_BYTES));
}

/** Whether this very value was given for these terms, to the last character. */
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
