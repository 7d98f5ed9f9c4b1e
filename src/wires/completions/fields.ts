import {
  aBoolean,
  aNumber,
  anInteger,
  anObject,
  anything,
  aString,
  aStringOrStrings,
  type FieldCheck,
} from '../fields/field-checks.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import type { Members } from '../fields/members.ts';
import { checkByTables, OTHER_PRICES, REFUSED_EVERYWHERE, type Refusals } from '../fields/refused-fields.ts';

const LOGPROBS_MAX = 5;
const fewLogprobs: FieldCheck = {
  says: `an integer from 0 to ${LOGPROBS_MAX}`,
  holds: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LOGPROBS_MAX,
};

/** Known fields of this wire and their types; their values are checked elsewhere. */
const KNOWN_FIELDS: Readonly<Record<string, FieldCheck>> = {
  model: anything,
  prompt: anything,
  max_tokens: anything,
  n: anything,
  best_of: anything,
  reasoning: anything,
  reasoning_effort: anything,
  include_reasoning: anything,
  response_format: anything,
  echo: aBoolean,
  frequency_penalty: aNumber,
  logit_bias: anObject,
  logprobs: fewLogprobs,
  client_metadata: anObject,
  metadata: anObject,
  presence_penalty: aNumber,
  prompt_cache_key: aString,
  safety_identifier: aString,
  seed: anInteger,
  session_id: aString,
  stop: aStringOrStrings,
  stream: aBoolean,
  stream_options: anObject,
  suffix: aString,
  temperature: aNumber,
  top_p: aNumber,
  usage: anObject,
  user: aString,
};

const OTHER_LIMIT = 'the output limit of this wire is `max_tokens`; set that field';

const REFUSED_FIELDS: Refusals = {
  ...REFUSED_EVERYWHERE,
  ...OTHER_PRICES,
  max_completion_tokens: { remedy: OTHER_LIMIT },
  max_output_tokens: { remedy: OTHER_LIMIT },
  max_new_tokens: { remedy: OTHER_LIMIT },
  n_predict: { remedy: OTHER_LIMIT },
};

/** Fields that only this gateway reads; they are not sent to hosts. */
const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  'usage',
  'reasoning',
  'include_reasoning',
  ...Object.keys(REFUSED_FIELDS).filter((name) => !Object.hasOwn(KNOWN_FIELDS, name)),
]);

/** Fields that are not sent to a host: those that only this gateway reads, and labels that the host's row does not forward. */
export function isWithheld(name: string, forwards: readonly string[]): boolean {
  if (LABEL_FIELDS.includes(name)) return !forwards.includes(name);
  return GATEWAY_FIELDS.has(name);
}

/** Checks every field of a body; returns the names of unknown fields. */
export function checkFields(body: Members): string[] {
  return checkByTables(body, KNOWN_FIELDS, REFUSED_FIELDS);
}
