import { Secret } from '../../kit/secret.ts';

/** Plain data, in which secrets are marked; it never leaves the process. */
export type Packed = { readonly packed: unknown };

const MARK = 'tollgate:secret';

/** Settings as another thread can receive them: a `Secret` would arrive empty. */
export function packSecrets(value: unknown): Packed {
  return { packed: mapped(value, (each) => (each instanceof Secret ? { [MARK]: each.reveal() } : undefined)) };
}

export function unpackSecrets<Value>({ packed }: Packed): Value {
  return mapped(packed, (each) => (isMarked(each) ? new Secret(each[MARK]) : undefined)) as Value;
}

function isMarked(value: unknown): value is { readonly [MARK]: string } {
  return typeof value === 'object' && value !== null && MARK in value;
}

function mapped(value: unknown, replace: (value: unknown) => unknown): unknown {
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((each) => mapped(each, replace));
  if (value instanceof Map) return new Map([...value].map(([name, each]) => [name, mapped(each, replace)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapped(each, replace)]));
}
