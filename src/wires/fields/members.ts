/** An object of untrusted JSON. */
export type Members = Record<string, unknown>;

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null counts as absent. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** A safe integer of at least zero. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A string that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function objectsIn(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Removes members by setting them to undefined, which JSON leaves out; `delete` would make the object slow. */
export function removeMembers(holder: Members, names: readonly string[]): boolean {
  let removed = false;
  for (const name of names) {
    if (holder[name] === undefined) continue;
    holder[name] = undefined;
    removed = true;
  }
  return removed;
}
