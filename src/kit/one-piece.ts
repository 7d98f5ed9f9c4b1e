/**
 * The same text as a flat string. V8 keeps a joined string as a tree of its parts and walks it on every write, so a
 * text that is used in many others is worth flattening once.
 */
export function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}
