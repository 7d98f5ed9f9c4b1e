/** The language has this since Node 21; the compiler's library does not yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** JSON text in which a bigint stands as an integer, digit for digit. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? rawJSON(String(member)) : member));
}
