/** An object of a stranger's JSON. */
export type Members = Record<string, unknown>;

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Takes members out; undefined is not written, and spares the object the slow shape that `delete` would give it. */
export function removeMembers(holder: Members, names: readonly string[]): boolean {
  let removed = false;
  for (const name of names) {
    if (holder[name] === undefined) continue;
    holder[name] = undefined;
    removed = true;
  }
  return removed;
}

/** Null counts as absent everywhere on this wire. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
