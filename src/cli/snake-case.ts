/** The same value with snake_case names, as in all our JSON. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null || hasOwnJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), snakeCased(member)]));
}

/** A value with its own toJSON, like a Secret, is left to it. */
function hasOwnJson(value: object): boolean {
  return 'toJSON' in value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
