/** The same value with every member named as in our JSON everywhere else. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null || hasOwnJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), snakeCased(member)]));
}

/** What writes itself, as a secret that conceals itself, is left to do so. */
function hasOwnJson(value: object): boolean {
  return 'toJSON' in value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
