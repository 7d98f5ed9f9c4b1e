import { isObject } from './members.ts';

/** Defaults, as the vendors document them, of fields that not every wire has. */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['best_of', 1],
  ['min_p', 0],
  ['repetition_penalty', 1],
  ['top_a', 0],
  ['top_logprobs', 0],
  ['verbosity', 'medium'],
]);

/** Whether a value has no effect, so that a field which cannot be translated may carry it. */
export function hasNoEffect(name: string, value: unknown): boolean {
  return isEmpty(value) || (DEFAULTS.has(name) && DEFAULTS.get(name) === value);
}

/** Null, false, and strings, lists and objects without content. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
