import { beyondMetadata, contentBytes } from '../fields/extra-bytes.ts';
import type { Members } from '../fields/members.ts';
import { callKindOf } from './item-kinds.ts';

/** The name of a call is text of the model and counts as content. */
export function nameBytes({ name }: Members): number {
  return typeof name === 'string' ? Buffer.byteLength(name) : 0;
}

export function encryptedBytes({ encrypted_content: encrypted }: Members): number {
  return typeof encrypted === 'string' ? Buffer.byteLength(encrypted) : 0;
}

/** Text of an item of another kind, such as a generated image; the words of known kinds are counted by their events. */
export function foreignItemBytes(item: Members): number {
  const isKnown = item.type === 'message' || item.type === 'reasoning' || callKindOf(item.type) !== undefined;
  return isKnown ? 0 : beyondMetadata(contentBytes(item));
}
