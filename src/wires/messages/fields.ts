import {
  aBoolean,
  aList,
  aNumber,
  anInteger,
  anObject,
  anything,
  aString,
  checkField,
  type FieldCheck,
} from '../fields/field-checks.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import type { Members } from '../fields/members.ts';
import {
  NO_REWRITING,
  NOTHING_STORED,
  ONE_MODEL,
  OTHER_PRICES,
  REFUSED_EVERYWHERE,
  type Refusals,
  refuseUnlessHarmless,
} from '../fields/refused-fields.ts';
import { unsupported } from '../fields/request-errors.ts';
import { isEmpty } from '../fields/without-effect.ts';
import { keepsPrompt, namesNoEdits } from './context-management.ts';
import { COMMON_REASONING_FIELDS } from './read-thinking.ts';

const strings: FieldCheck = {
  says: 'a list of strings',
  holds: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
};

/** Known fields of this wire and their types. */
const KNOWN_FIELDS: Readonly<Record<string, FieldCheck>> = {
  model: anything,
  messages: anything,
  system: anything,
  max_tokens: anything,
  cache_control: anObject,
  diagnostics: anObject,
  include_reasoning: anything,
  inference_geo: aString,
  client_metadata: anObject,
  metadata: anObject,
  output_config: anObject,
  output_format: anObject,
  prompt_cache_key: aString,
  reasoning: anything,
  reasoning_effort: anything,
  response_format: anything,
  safety_identifier: aString,
  service_tier: aString,
  session_id: aString,
  speed: aString,
  stop_sequences: strings,
  stream: aBoolean,
  stream_options: anObject,
  temperature: aNumber,
  thinking: anObject,
  tool_choice: anObject,
  tools: aList,
  top_k: anInteger,
  top_p: aNumber,
  usage: anObject,
  user: aString,
};

/** Fields that are allowed with these values only; others would have another price. */
const PRICED_VALUES: Readonly<Record<string, readonly string[]>> = {
  service_tier: ['auto', 'standard_only'],
  speed: ['standard'],
  inference_geo: ['global'],
};

const OTHER_LIMIT = 'the output limit of this wire is `max_tokens`; set that field';
const ONE_ANSWER = 'this wire returns one choice per call; send another request for another one';
const OWN_ACCOUNT = 'it selects an account of the host; leave it out';

const REFUSED_FIELDS: Refusals = {
  ...REFUSED_EVERYWHERE,
  modalities: OTHER_PRICES.modalities!,
  container: { remedy: 'code execution is not supported; run the code yourself and send the result' },
  mcp_servers: { remedy: 'MCP servers are not called from here; call the server yourself and send its tools' },
  context_management: { remedy: NO_REWRITING, harmless: keepsPrompt },
  compaction: { remedy: NO_REWRITING },
  thread: { remedy: NOTHING_STORED },
  fallback_credit_token: { remedy: ONE_MODEL },
  user_profile_id: { remedy: OWN_ACCOUNT },
  workspace_id: { remedy: OWN_ACCOUNT },
  n: { remedy: ONE_ANSWER, harmless: (value) => value === 1 },
  best_of: { remedy: ONE_ANSWER, harmless: (value) => value === 1 },
  max_completion_tokens: { remedy: OTHER_LIMIT },
  max_output_tokens: { remedy: OTHER_LIMIT },
  max_tokens_to_sample: { remedy: OTHER_LIMIT },
  max_new_tokens: { remedy: OTHER_LIMIT },
};

/** Fields of every wire that only this gateway reads on this one. Usage is always in its streams. */
const GATEWAY_FIELDS: readonly string[] = [...COMMON_REASONING_FIELDS, 'stream_options', 'usage'];

/** Checks every field of a body; returns the names of unknown fields. */
export function checkFields(body: Members): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue;
    if (Object.hasOwn(KNOWN_FIELDS, name)) checkKnown(name, value);
    else if (Object.hasOwn(REFUSED_FIELDS, name)) refuseUnlessHarmless(REFUSED_FIELDS, body, name);
    else unknown.push(name);
  }
  return unknown;
}

function checkKnown(name: string, value: unknown): void {
  checkField(name, value, KNOWN_FIELDS[name]!);
  const priced = PRICED_VALUES[name];
  if (priced === undefined || value === '' || priced.includes(value as string)) return;
  const named = priced.map((one) => JSON.stringify(one)).join(' or ');
  throw unsupported(name, `\`${name}\` other than ${named} has no price here; leave it out.`);
}

/** Values that ask for nothing here, but that hosts refuse. */
export function isEmptyAsk(name: string, value: unknown): boolean {
  if (name === 'context_management') return isEmpty(value) || namesNoEdits(value);
  return value === '' && Object.hasOwn(PRICED_VALUES, name);
}

/** Fields that are not sent to a host: those that only this gateway reads, and labels that the host's row does not forward. */
export function isWithheld(name: string, forwards: readonly string[]): boolean {
  if (LABEL_FIELDS.includes(name)) return !forwards.includes(name);
  if (GATEWAY_FIELDS.includes(name)) return true;
  if (name === 'context_management') return false;
  return Object.hasOwn(REFUSED_FIELDS, name) && !Object.hasOwn(KNOWN_FIELDS, name);
}
