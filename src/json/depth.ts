const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True if JSON is nested more deeply than allowed. Linear in time, without recursion. */
export function isTooDeep(text: string, depthMax: number): boolean {
  // Each level takes at least one character.
  if (text.length <= depthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    // Brackets and braces differ in one bit: the first test matches [ and {, the second ] and }.
    else if ((code | 0x20) === 0x7b) {
      if (++depth > depthMax) return true;
    } else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}

/** The position of the quote that ends the string; the end of the text if there is none. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}
