import { checkCacheOptions } from '../fields/cache-options.ts';
import {
  aBoolean,
  aList,
  aNumber,
  anInteger,
  anObject,
  anything,
  aString,
  aStringOrObject,
  aStringOrStrings,
  checkField,
  type FieldCheck,
} from '../fields/field-checks.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { REFUSED_EVERYWHERE, type Refusals, refuseUnlessHarmless } from '../fields/refused-fields.ts';
import { unsupported } from '../fields/request-errors.ts';

/** Known fields of this wire and their types; their values are checked elsewhere. */
const FIELD_CHECKS: Readonly<Record<string, FieldCheck>> = {
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
  client_metadata: anObject,
  metadata: anObject,
  modalities: aList,
  parallel_tool_calls: aBoolean,
  presence_penalty: aNumber,
  prompt_cache_key: aString,
  prompt_cache_retention: aString,
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
  verbosity: aString,
};
const KNOWN_FIELDS: ReadonlyMap<string, FieldCheck> = new Map(Object.entries(FIELD_CHECKS));

const OTHER_LIMIT = 'the output limit of this wire is `max_completion_tokens`; set that field';

const REFUSED_FIELDS: Refusals = {
  ...REFUSED_EVERYWHERE,
  max_output_tokens: { remedy: OTHER_LIMIT },
  max_new_tokens: { remedy: OTHER_LIMIT },
  best_of: { remedy: 'hidden choices have no price here; use `n`', harmless: (value) => value === 1 },
};

/** Harmless values of these fields are sent to the host. */
const FORWARDED_WHEN_HARMLESS = new Set(['store', 'prompt']);

/** Fields that only this gateway reads; they are not sent to hosts. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  'usage',
  'reasoning',
  'include_reasoning',
  ...Object.keys(REFUSED_FIELDS).filter((name) => !FORWARDED_WHEN_HARMLESS.has(name)),
]);

/** Checks every field of a body; returns the names of unknown fields. */
export function checkFields(body: Members): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue;
    const check = KNOWN_FIELDS.get(name);
    if (check !== undefined) checkField(name, value, check);
    else if (Object.hasOwn(REFUSED_FIELDS, name)) refuseUnlessHarmless(REFUSED_FIELDS, body, name);
    else unknown.push(name);
  }
  checkServiceTier(body.service_tier);
  checkModalities(body.modalities);
  if (isObject(body.prompt_cache_options)) checkCacheOptions(body.prompt_cache_options, 'prompt_cache_options');
  return unknown;
}

function checkServiceTier(tier: unknown): void {
  if (isAbsent(tier) || tier === '' || tier === 'auto' || tier === 'default') return;
  throw unsupported('service_tier', '`service_tier` other than "auto" or "default" has no price here; leave it out.');
}

function checkModalities(modalities: unknown): void {
  if (!Array.isArray(modalities) || modalities.every((one) => one === 'text')) return;
  throw unsupported('modalities', '`modalities` other than "text" have no price here; leave it out.');
}
