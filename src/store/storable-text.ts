import { LIMITS } from '../limits.ts';

/**
 * PostgreSQL's texts cannot contain null characters or unpaired surrogates. Free texts are stored, and looked up,
 * without them.
 */
export function storable(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** Whether the text comes back from the database unchanged. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * A row of the table `name` as PostgreSQL can store it: SQLite's names may be longer. A changed name gets its number
 * appended, because two names may be equal after the change.
 */
export function storableName(text: string, id: bigint): string {
  if (!text.includes('\0') && text.length <= LIMITS.storedNameCharsMax) return text;
  const mark = ` (${id})`;
  return (
    storable(text)
      .slice(0, LIMITS.storedNameCharsMax - mark.length)
      .toWellFormed() + mark
  );
}
