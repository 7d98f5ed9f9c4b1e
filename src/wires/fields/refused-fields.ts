import { checkField, type FieldCheck } from './field-checks.ts';
import { isAbsent, isObject, type Members } from './members.ts';
import { unsupported } from './request-errors.ts';
import { isEmpty } from './without-effect.ts';

/** Why a field is refused, and which values are allowed besides null and empty ones because they have no effect. */
interface Refusal {
  readonly remedy: string;
  readonly harmless?: (value: unknown, body: Members) => boolean;
  /** An empty object already has an effect. */
  readonly emptyAsks?: true;
}

export type Refusals = Readonly<Record<string, Refusal>>;

export const ONE_MODEL = 'a request names one model; send fallbacks as separate requests';
export const NO_REWRITING = 'prompts are never rewritten; shorten the prompt yourself';
export const NOTHING_STORED = 'nothing is stored between calls; send the whole conversation';
const OWN_SEARCH = 'server-side search has no price here; search yourself and send the results';
const OTHER_LIMIT = 'a second output limit could override the first; use the output limit of this route';
const NO_REGISTRY = 'there is no prompt registry; send the prompt itself';

/** Fields that are refused on every wire: they would change the price, the model or the prompt, or need a service that does not exist here. */
export const REFUSED_EVERYWHERE: Refusals = {
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
  preset: { remedy: NO_REGISTRY },
  prompt: { remedy: NO_REGISTRY, harmless: (value) => !isObject(value) },
  guardrails: { remedy: 'no guardrails run here; call your own before this request' },
  moderation: { remedy: 'no moderation runs here; call your own before this request' },
  previous_response_id: { remedy: NOTHING_STORED },
  conversation: { remedy: NOTHING_STORED },
  item_reference: { remedy: NOTHING_STORED },
  background: { remedy: 'stream a long call, or submit it as a deferred job to POST /v1/jobs' },
  store: { remedy: 'nothing is stored here; leave it out or send false' },
  prediction: { remedy: 'predicted output has no price here; leave it out' },
  web_search_options: { remedy: OWN_SEARCH, emptyAsks: true },
  search_parameters: { remedy: OWN_SEARCH, emptyAsks: true },
  audio: { remedy: 'audio has no price here; send text' },
  speed: { remedy: 'speed tiers have no price here; leave it out' },
  enable_search: { remedy: OWN_SEARCH },
  search_options: { remedy: OWN_SEARCH, emptyAsks: true },
  search_settings: { remedy: OWN_SEARCH, emptyAsks: true },
  connectors: { remedy: OWN_SEARCH },
  n_predict: { remedy: OTHER_LIMIT },
  num_predict: { remedy: OTHER_LIMIT },
  max_length: { remedy: OTHER_LIMIT },
  max_gen_len: { remedy: OTHER_LIMIT },
  max_new_tokens: { remedy: OTHER_LIMIT },
  options: { remedy: OTHER_LIMIT },
  generation_config: { remedy: OTHER_LIMIT },
  extra_body: { remedy: 'put its members into the request body instead' },
  chat_template: { remedy: 'a custom template could make the prompt longer than the hold covers; send messages' },
  mm_processor_kwargs: { remedy: 'it could make images cost more than the hold covers; leave it out' },
  vl_high_resolution_images: { remedy: 'it could make images cost more than the hold covers; leave it out' },
};

const isUsualTier = (value: unknown): boolean => value === 'auto' || value === 'default';
const isTextOnly = (value: unknown): boolean => Array.isArray(value) && value.every((one) => one === 'text');

/** Fields whose other values would have another price, for wires that do not have these fields. */
export const OTHER_PRICES: Refusals = {
  service_tier: {
    remedy: 'tiers other than "auto" and "default" have no price here; leave it out',
    harmless: isUsualTier,
  },
  modalities: { remedy: 'only text has a price here; ask for text', harmless: isTextOnly },
};

/** Checks every field of a body by the tables of its wire; returns the names of those that are in neither. */
export function checkByTables(body: Members, known: Readonly<Record<string, FieldCheck>>, refused: Refusals): string[] {
  const unknown: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (isAbsent(value)) continue;
    if (Object.hasOwn(known, name)) checkField(name, value, known[name]!);
    else if (Object.hasOwn(refused, name)) refuseUnlessHarmless(refused, body, name);
    else unknown.push(name);
  }
  return unknown;
}

export function refuseUnlessHarmless(table: Refusals, body: Members, name: string): void {
  const { remedy, harmless, emptyAsks } = table[name]!;
  const value = body[name];
  if (isEmpty(value) && !(emptyAsks === true && isObject(value))) return;
  if (harmless?.(value, body)) return;
  throw unsupported(name, `\`${name}\` is not supported: ${remedy}.`);
}
