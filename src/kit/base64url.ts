/** Without padding, as in RFC 4648, section 5. */
export function toBase64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes as Uint8Array).toString('base64url');
}

/** Null unless it is the only spelling of these bytes: another one could be changed without changing what it says. */
export function fromBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
