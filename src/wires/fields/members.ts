/** An object of a stranger's JSON. */
export type Members = Record<string, unknown>;

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null counts as absent wherever a caller may leave a field out. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** A whole number from zero up that can be counted with. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A string that says something. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function objectsIn(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
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
