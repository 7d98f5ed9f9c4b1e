/** Node has this since version 21; TypeScript's library does not declare it yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Writes JSON in which a bigint is an integer with all its digits. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
