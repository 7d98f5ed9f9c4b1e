import { isAbsent, isObject, type Members } from '../members.ts';
import { mustBe, unsupported } from '../request-errors.ts';

/** Only the type is checked; which values a model takes is for its host to say. */
interface FieldCheck {
  readonly says: string;
  readonly holds: (value: unknown) => boolean;
}

const aNumber: FieldCheck = { says: 'a number', holds: (value) => typeof value === 'number' };
const anInteger: FieldCheck = { says: 'an integer', holds: Number.isSafeInteger };
const aBoolean: FieldCheck = { says: 'true or false', holds: (value) => typeof value === 'boolean' };
const aString: FieldCheck = { says: 'a string', holds: (value) => typeof value === 'string' };
const anObject: FieldCheck = { says: 'an object', holds: isObject };
const aList: FieldCheck = { says: 'a list', holds: Array.isArray };
const aStringOrObject: FieldCheck = {
  says: 'a string or an object',
  holds: (value) => typeof value === 'string' || isObject(value),
};
const aStringOrStrings: FieldCheck = {
  says: 'a string or a list of strings',
  holds: (value) =>
    typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string')),
};
/** Hosts judge it, never we: what one refuses another honours. */
const anything: FieldCheck = { says: 'anything', holds: () => true };

/** Fields this wire knows, with the type they must have; what reads them closer does so elsewhere. */
const KNOWN_FIELDS: Readonly<Record<string, FieldCheck>> = {
  model: anything,
  messages: anything,
  max_tokens: anything,
  max_completion_tokens: anything,
  n: anything,
  reasoning: anything,
  reasoning_effort: anything,
  include_reasoning: anything,
  response_format: anything,
  frequency_penalty: aNumber,
  function_call: aStringOrObject,
  functions: aList,
  logit_bias: anObject,
  logprobs: aBoolean,
  metadata: anObject,
  modalities: aList,
  parallel_tool_calls: aBoolean,
  presence_penalty: aNumber,
  prompt_cache_key: aString,
  safety_identifier: aString,
  seed: anInteger,
  service_tier: anything,
  session_id: aString,
  stop: aStringOrStrings,
  stream: aBoolean,
  stream_options: anObject,
  temperature: aNumber,
  tool_choice: aStringOrObject,
  tools: aList,
  top_logprobs: anInteger,
  top_p: aNumber,
  usage: anObject,
  user: aString,
};

/** Why a field is refused, and what asks for nothing and is let through beside null and the empty values. */
interface Refusal {
  readonly remedy: string;
  readonly harmless?: (value: unknown, body: Members) => boolean;
  /** An empty object switches it on. */
  readonly emptyAsks?: true;
}

const ONE_MODEL = 'one model is admitted per request; chain fallbacks as separate calls on your side';
const NO_REWRITING = 'prompts are never rewritten; shorten the prompt yourself';
const NOTHING_STORED = 'nothing is stored between calls; send the whole conversation';
const OTHER_LIMIT = 'the output limit of this wire is `max_completion_tokens`; say it there';
const OWN_SEARCH = 'server-side search has no price here; search yourself and send the results';

/** Fields that would change the price, the model or the prompt, or that need a service we do not run. */
const REFUSED_FIELDS: Readonly<Record<string, Refusal>> = {
  provider: { remedy: 'the host is chosen by price and health and cannot be pinned; leave it out' },
  models: {
    remedy: ONE_MODEL,
    harmless: (value, body) => Array.isArray(value) && value.length === 1 && value[0] === body.model,
  },
  route: { remedy: ONE_MODEL },
  fallbacks: { remedy: ONE_MODEL },
  transforms: { remedy: NO_REWRITING },
  truncation: { remedy: NO_REWRITING, harmless: (value) => value === 'disabled' },
  context_management: { remedy: NO_REWRITING },
  plugins: { remedy: 'no plugins run here; leave it out' },
  preset: { remedy: 'there is no prompt registry; send the prompt itself' },
  prompt: {
    remedy: 'there is no prompt registry; send the prompt itself as messages',
    harmless: (value) => !isObject(value),
  },
  guardrails: { remedy: 'no guardrails run here; call your own before this request' },
  moderation: { remedy: 'no moderation runs here; call your own before this request' },
  previous_response_id: { remedy: NOTHING_STORED },
  conversation: { remedy: NOTHING_STORED },
  item_reference: { remedy: NOTHING_STORED },
  background: { remedy: 'calls run in the foreground; stream long ones' },
  store: { remedy: 'nothing is stored here; leave it out or send false' },
  prediction: { remedy: 'predicted output has no price here; leave it out' },
  web_search_options: { remedy: OWN_SEARCH, emptyAsks: true },
  search_parameters: { remedy: OWN_SEARCH, emptyAsks: true },
  audio: { remedy: 'audio has no price here; send text' },
  speed: { remedy: 'speed tiers have no price here; leave it out' },
  max_output_tokens: { remedy: OTHER_LIMIT },
  max_new_tokens: { remedy: OTHER_LIMIT },
  best_of: { remedy: 'hidden answers have no price here; ask for `n`', harmless: (value) => value === 1 },
};

/** Harmless values of these are still the host's to see. */
const FORWARDED_WHEN_HARMLESS = new Set(['store', 'prompt']);

/** Fields that only ask this gateway for something and mean nothing to a host. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  'usage',
  'reasoning',
  'include_reasoning',
  ...Object.keys(REFUSED_FIELDS).filter((name) => !FORWARDED_WHEN_HARMLESS.has(name)),
]);

/** Fields that say who the caller's user is; they become labels of the receipt. */
export const LABEL_FIELDS: readonly string[] = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'session_id',
  'metadata',
];

/** Checks every field of a body; returns the names of those this wire knows nothing about. */
export function checkFields(body: Members): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue;
    if (Object.hasOwn(KNOWN_FIELDS, name)) checkType(name, value);
    else if (Object.hasOwn(REFUSED_FIELDS, name)) refuseUnlessHarmless(body, name, value);
    else unknown.push(name);
  }
  checkServiceTier(body.service_tier);
  checkModalities(body.modalities);
  return unknown;
}

function checkType(name: string, value: unknown): void {
  const check = KNOWN_FIELDS[name]!;
  if (!check.holds(value)) throw mustBe(name, check.says);
}

function refuseUnlessHarmless(body: Members, name: string, value: unknown): void {
  const { remedy, harmless, emptyAsks } = REFUSED_FIELDS[name]!;
  if (isEmpty(value, emptyAsks === true) || harmless?.(value, body)) return;
  throw unsupported(name, `\`${name}\` is not supported: ${remedy}.`);
}

function isEmpty(value: unknown, emptyObjectAsks: boolean): boolean {
  if (value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0 && !emptyObjectAsks;
}

function checkServiceTier(tier: unknown): void {
  if (isAbsent(tier) || tier === '' || tier === 'auto' || tier === 'default') return;
  throw unsupported('service_tier', '`service_tier` other than "auto" or "default" has no price here; leave it out.');
}

function checkModalities(modalities: unknown): void {
  if (!Array.isArray(modalities) || modalities.every((one) => one === 'text')) return;
  throw unsupported('modalities', '`modalities` beyond "text" have no price here; ask for text only.');
}
