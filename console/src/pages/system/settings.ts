interface Setting {
  /** As in the config file, with dots between the levels. */
  readonly name: string;
  readonly value: string;
  /** A flag, a variable or the config file; null if it is at its default. */
  readonly source: string | null;
}

type Sources = Readonly<Record<string, string>>;

/** Nested settings as a list that can be searched. */
export function flattenSettings(
  settings: Readonly<Record<string, unknown>>,
  sources: Sources,
  prefix = '',
): readonly Setting[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return flattenSettings(value as Record<string, unknown>, sources, path);
    return [{ name: path, value: settingText(value), source: sources[path] ?? null }];
  });
}

function settingText(value: unknown): string {
  if (value === null || value === undefined) return 'not set';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}
