import { isObject } from './members.ts';
import { hasNoEffect } from './without-effect.ts';

/** The prompt and the tools of some wire: without them the model would answer another question. */
const PROMPT_FIELDS: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'prompt', 'suffix', 'system', 'instructions', 'documents', 'context', 'tools', 'functions'],
  'input_examples',
]);

/** Names, on any wire, of what limits the cost of a call, its output, or who sees it. */
const LIMITING_NAMES: ReadonlySet<string> = new Set([
  ...['n', 'best_of', 'candidate_count', 'end_id', 'end_token', 'zdr', 'safe_prompt', 'safety_settings'],
]);
const LIMITING_WORD =
  /(^|_)(max|stop|num|eos|truncat|budget|limit|quota|ceiling|cost|price|spend|timeout|deadline|cap(_|$))/;

/** The first path, of this field or inside it, that the call must not run without; null if there is none. */
export function findEssential(name: string, value: unknown, path: string): string | null {
  if (PROMPT_FIELDS.has(name)) return path;
  return findLimit(name, value, path);
}

/** Vendors put limits into objects too, like `options.num_predict` or `generationConfig.maxOutputTokens`. */
export function findLimit(name: string, value: unknown, path: string): string | null {
  if (isLimit(name, value)) return path;
  if (Array.isArray(value)) return findFirst(value.entries(), (at, item) => findLimit('', item, `${path}[${at}]`));
  if (!isObject(value)) return null;
  return findFirst(Object.entries(value), (member, inner) => findLimit(member, inner, `${path}.${member}`));
}

function findFirst<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  find: (key: Key, value: unknown) => string | null,
): string | null {
  for (const [key, value] of entries) {
    const found = find(key, value);
    if (found !== null) return found;
  }
  return null;
}

function isLimit(name: string, value: unknown): boolean {
  if (name === 'thinking') return isObject(value) && (value.type === 'disabled' || value.budget_tokens !== undefined);
  const word = inSnakeCase(name);
  if (word === 'enable_thinking') return value === false;
  if (hasNoEffect(name, value)) return false;
  return LIMITING_NAMES.has(word) || LIMITING_WORD.test(word);
}

function inSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]/g, '_')
    .toLowerCase();
}
