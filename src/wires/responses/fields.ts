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
  type FieldCheck,
} from '../fields/field-checks.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { checkByTables, OTHER_PRICES, REFUSED_EVERYWHERE, type Refusals } from '../fields/refused-fields.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';

/** Known fields of this wire and their types; their values are checked elsewhere. */
const KNOWN_FIELDS: Readonly<Record<string, FieldCheck>> = {
  model: anything,
  input: anything,
  max_output_tokens: anything,
  reasoning: anything,
  reasoning_effort: anything,
  include_reasoning: anything,
  response_format: anything,
  frequency_penalty: aNumber,
  include: aList,
  instructions: aString,
  max_tool_calls: anInteger,
  client_metadata: anObject,
  metadata: anObject,
  parallel_tool_calls: aBoolean,
  presence_penalty: aNumber,
  prompt_cache_key: aString,
  prompt_cache_options: anObject,
  prompt_cache_retention: aString,
  safety_identifier: aString,
  service_tier: aString,
  session_id: aString,
  stream: aBoolean,
  stream_options: anObject,
  temperature: aNumber,
  text: anObject,
  tool_choice: aStringOrObject,
  tools: aList,
  top_logprobs: anInteger,
  top_p: aNumber,
  usage: anObject,
  user: aString,
};

const OTHER_LIMIT = 'the output limit of this wire is `max_output_tokens`; set that field';
const ONE_ANSWER = 'this wire returns one choice per call; send another request for another one';

const REFUSED_FIELDS: Refusals = {
  ...REFUSED_EVERYWHERE,
  modalities: OTHER_PRICES.modalities!,
  prompt: { remedy: 'there is no prompt registry; send the prompt itself as input' },
  max_tokens: { remedy: OTHER_LIMIT },
  max_completion_tokens: { remedy: OTHER_LIMIT },
  max_new_tokens: { remedy: OTHER_LIMIT },
  n: { remedy: ONE_ANSWER, harmless: (value) => value === 1 },
  best_of: { remedy: ONE_ANSWER, harmless: (value) => value === 1 },
};

/** Refused fields of this wire; values without effect are sent to the host as the caller wrote them. */
const OWN_REFUSED_FIELDS = [
  'background',
  'context_management',
  'conversation',
  'moderation',
  'previous_response_id',
  'prompt',
  'truncation',
];

/** Fields that only this gateway reads; they are not sent to hosts. */
const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  'usage',
  'reasoning_effort',
  'include_reasoning',
  ...Object.keys(REFUSED_FIELDS).filter((name) => name !== 'store' && !OWN_REFUSED_FIELDS.includes(name)),
]);

/** Fields that are not sent to a host: those that only this gateway reads, and labels that the host's row does not forward. */
export function isWithheld(name: string, forwards: readonly string[]): boolean {
  if (LABEL_FIELDS.includes(name)) return !forwards.includes(name);
  return GATEWAY_FIELDS.has(name);
}

/** An empty id has no effect here, but a host would look for an object with that id. */
export function isEmptyAsk(name: string, value: unknown): boolean {
  return value === '' && OWN_REFUSED_FIELDS.includes(name);
}

export function isRefusedField(name: string): boolean {
  return Object.hasOwn(REFUSED_FIELDS, name);
}

/** Checks every field of a body; returns the names of unknown fields. */
export function checkFields(body: Members): string[] {
  const unknown = checkByTables(body, KNOWN_FIELDS, REFUSED_FIELDS);
  refuseOtherPrices(body);
  checkInclude(body.include);
  return unknown;
}

/** Refuses values that would make a call cost more than the catalog says. */
function refuseOtherPrices({ service_tier: tier, prompt_cache_options: cache, reasoning }: Members): void {
  if (!isAbsent(tier) && tier !== '' && tier !== 'auto' && tier !== 'default') {
    throw unsupported('service_tier', '`service_tier` other than "auto" or "default" has no price here; leave it out.');
  }
  if (isObject(cache)) checkCacheOptions(cache, 'prompt_cache_options');
  if (isObject(reasoning) && !isAbsent(reasoning.mode) && reasoning.mode !== 'standard') {
    throw unsupported('reasoning.mode', '`reasoning.mode` other than "standard" has no price here; leave it out.');
  }
}

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content';
/** Values of `include` that only need the model; the others need the vendor's tools or storage. */
export const LOGPROBS = 'message.output_text.logprobs';

function checkInclude(include: unknown): void {
  if (!Array.isArray(include)) return;
  include.forEach((name, index) => {
    const path = `include[${index}]`;
    if (typeof name !== 'string') throw mustBe(path, 'a string');
    if (name === ENCRYPTED_REASONING || name === LOGPROBS) return;
    const named = JSON.stringify(name.slice(0, 60));
    throw unsupported(
      path,
      `\`${path}\` ${named} needs server-side tools or storage, which this gateway does not have.`,
    );
  });
}
