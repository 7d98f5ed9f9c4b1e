const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether JSON opens more containers within each other than allowed; linear, and without a stack of its own. */
export function isTooDeep(text: string, depthMax: number): boolean {
  // Text that is no longer than the depth cannot have it.
  if (text.length <= depthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    // An opening bracket or brace, then a closing one: both pairs differ in the same bit.
    else if ((code | 0x20) === 0x7b) {
      if (++depth > depthMax) return true;
    } else if ((code | 0x20) === 0x7d) depth--;
  }
  return false;
}

/** The quote that ends the string begun at a place; the text's end if there is none. */
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
