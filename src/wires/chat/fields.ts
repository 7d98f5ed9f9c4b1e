import { GatewayError } from '../../canonical/errors.ts';

type Body = Readonly<Record<string, unknown>>;

/** Only the type is checked; which values a model takes is for its host to say. */
type FieldCheck = { readonly says: string; readonly holds: (value: unknown) => boolean };

const aNumber: FieldCheck = { says: 'a number', holds: (value) => typeof value === 'number' };
const aBoolean: FieldCheck = { says: 'true or false', holds: (value) => typeof value === 'boolean' };
const aString: FieldCheck = { says: 'a string', holds: (value) => typeof value === 'string' };
const anInteger: FieldCheck = { says: 'an integer', holds: (value) => Number.isSafeInteger(value) };
const anObject: FieldCheck = { says: 'an object', holds: isObject };
const aList: FieldCheck = { says: 'a list', holds: Array.isArray };

/** Known fields that do not touch the price, with the type they must have; null counts as absent. */
const FREE_FIELDS: Readonly<Record<string, FieldCheck>> = {
  frequency_penalty: aNumber,
  logit_bias: anObject,
  logprobs: aBoolean,
  parallel_tool_calls: aBoolean,
  presence_penalty: aNumber,
  seed: anInteger,
  stop: {
    says: 'a string or a list of strings',
    holds: (value) =>
      typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string')),
  },
  stream: aBoolean,
  stream_options: anObject,
  temperature: aNumber,
  tool_choice: { says: 'a string or an object', holds: (value) => typeof value === 'string' || isObject(value) },
  tools: aList,
  functions: aList,
  top_logprobs: anInteger,
  top_p: aNumber,
  usage: anObject,
  user: aString,
  safety_identifier: aString,
  prompt_cache_key: aString,
  session_id: aString,
  metadata: anObject,
};

/** Fields that would change the price, the model or the prompt, or need a service we do not run, and the remedy. */
const REFUSED_FIELDS: Readonly<Record<string, string>> = {
  provider: 'the host is chosen by price and health and cannot be pinned; leave it out',
  models: 'one model is admitted per request; chain fallbacks as separate calls on your side',
  route: 'one model is admitted per request; leave it out',
  fallbacks: 'one model is admitted per request; chain fallbacks as separate calls on your side',
  transforms: 'prompts are never rewritten; shorten the prompt yourself',
  plugins: 'no plugins run here; leave it out',
  preset: 'there is no prompt registry; send the prompt itself',
  guardrails: 'no guardrails run here; call your own before this request',
  moderation: 'no moderation runs here; call your own before this request',
  truncation: 'prompts are never truncated; shorten the prompt yourself',
  context_management: 'prompts are never rewritten; shorten the prompt yourself',
  previous_response_id: 'nothing is stored between calls; send the whole conversation',
  conversation: 'nothing is stored between calls; send the whole conversation',
  background: 'calls run in the foreground; stream long ones',
  store: 'nothing is stored here; leave it out or send false',
  prediction: 'predicted output has no price here; leave it out',
  web_search_options: 'server-side search has no price here; search yourself and send the results',
  audio: 'audio has no price here; send text',
  speed: 'speed tiers have no price here; leave it out',
};

/** The values of a refused field that ask for nothing. */
const HARMLESS_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  truncation: ['disabled'],
  store: [false],
  background: [false],
  service_tier: ['auto', 'default'],
};

/** Fields that only ask this gateway for something and mean nothing to a host. */
export const GATEWAY_FIELDS = [
  'usage',
  'reasoning',
  'include_reasoning',
  ...Object.keys(REFUSED_FIELDS).filter((name) => name !== 'store'),
];

/** Fields that say who the caller's user is; they become labels of the receipt. */
export const LABEL_FIELDS = ['user', 'safety_identifier', 'prompt_cache_key', 'session_id', 'metadata'];

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function invalidValue(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', { param, message });
}

export function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_feature', { param, message });
}

export function checkFields(body: Body): void {
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null) continue;
    if (Object.hasOwn(REFUSED_FIELDS, name)) refuseUnlessEmpty(body, name, value);
    else if (Object.hasOwn(FREE_FIELDS, name)) checkType(name, value);
  }
  checkServiceTier(body.service_tier);
  checkModalities(body.modalities);
}

function checkType(name: string, value: unknown): void {
  const check = FREE_FIELDS[name]!;
  if (!check.holds(value)) throw invalidValue(name, `\`${name}\` must be ${check.says}.`);
}

function refuseUnlessEmpty(body: Body, name: string, value: unknown): void {
  if (isEmpty(value) || HARMLESS_VALUES[name]?.includes(value)) return;
  if (name === 'models' && Array.isArray(value) && value.length === 1 && value[0] === body.model) return;
  throw unsupported(name, `\`${name}\` is not supported: ${REFUSED_FIELDS[name]}.`);
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function checkServiceTier(tier: unknown): void {
  if (tier === undefined || tier === null || HARMLESS_VALUES.service_tier!.includes(tier)) return;
  throw unsupported('service_tier', '`service_tier` other than "auto" or "default" has no price here; leave it out.');
}

function checkModalities(modalities: unknown): void {
  if (modalities === undefined || modalities === null) return;
  if (!Array.isArray(modalities)) throw invalidValue('modalities', '`modalities` must be a list.');
  const other = modalities.find((one) => one !== 'text');
  if (other !== undefined) {
    throw unsupported('modalities', '`modalities` beyond "text" have no price here; ask for text only.');
  }
}
