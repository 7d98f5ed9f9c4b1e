/** The beginning of a text. A character that the cut would split in two is left out: half of it cannot be encoded. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return text.slice(0, isFirstHalf(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax);
}

/** Whether this is the first of the two code units of a character. */
export function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
