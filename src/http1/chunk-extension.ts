import { isTokenByte } from './headers.ts';

/** What the next byte of a chunk extension belongs to. */
export type ExtensionState = 'name-start' | 'name' | 'value-start' | 'value' | 'quoted' | 'escaped' | 'quote-closed';

const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;

/**
 * Follows the grammar of RFC 9112, section 7.1.1, by one byte; null if the byte may not stand there. Whitespace around
 * the parts is refused: no sender needs it, and parsers disagree about it.
 */
export function nextExtensionState(state: ExtensionState, byte: number): ExtensionState | null {
  switch (state) {
    case 'name-start':
      return isTokenByte(byte) ? 'name' : null;
    case 'name':
      if (byte === EQUALS) return 'value-start';
      return isTokenByte(byte) ? 'name' : nextExtension(byte);
    case 'value-start':
      if (byte === QUOTE) return 'quoted';
      return isTokenByte(byte) ? 'value' : null;
    case 'value':
      return isTokenByte(byte) ? 'value' : nextExtension(byte);
    case 'quoted':
      if (byte === QUOTE) return 'quote-closed';
      if (byte === BACKSLASH) return 'escaped';
      return isText(byte) ? 'quoted' : null;
    case 'escaped':
      return isText(byte) ? 'quoted' : null;
    case 'quote-closed':
      return nextExtension(byte);
  }
}

/** True if the line may end after the bytes read so far. */
export function isWholeExtension(state: ExtensionState): boolean {
  return state === 'name' || state === 'value' || state === 'quote-closed';
}

function nextExtension(byte: number): ExtensionState | null {
  return byte === SEMICOLON ? 'name-start' : null;
}

function isText(byte: number): boolean {
  return (byte >= SPACE && byte !== DELETE) || byte === TAB;
}
