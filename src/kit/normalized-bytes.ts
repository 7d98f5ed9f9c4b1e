/** Bytes of a text in UTF-8 or in its NFKC form, whichever is more: one character of 3 bytes can become 33. */
export function normalizedBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  // Only ASCII has as many bytes as characters, and it does not change.
  return bytes === text.length ? bytes : Math.max(bytes, Buffer.byteLength(text.normalize('NFKC')));
}
