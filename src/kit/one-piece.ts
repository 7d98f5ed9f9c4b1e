/**
 * The same text as one run of characters. V8 keeps a text that was put together as a tree of its parts, and whoever writes
 * it out goes through all of them: for a text that is part of many others, that is worth doing once.
 */
export function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}
