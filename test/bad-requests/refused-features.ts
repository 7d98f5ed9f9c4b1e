import { type BadClass, oneField } from './bad-class.ts';
import { goodTools } from './good-body.ts';

/** Every field that is refused by name, with values that request the feature. */
const REFUSED_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  provider: [{ order: ['a'] }, { only: ['a'], allow_fallbacks: false }, 'a'],
  models: [['sim-gpt', 'sim-gpt-mini'], ['another'], 'another'],
  route: ['fallback'],
  fallbacks: [['sim-gpt-mini'], [{ model: 'sim-gpt-mini' }]],
  transforms: [['middle-out']],
  plugins: [[{ id: 'web' }]],
  preset: ['support', '@preset/support'],
  guardrails: [['pii'], { input: ['pii'] }],
  moderation: [true, { model: 'omni' }],
  truncation: ['auto', { type: 'last_messages' }],
  context_management: [{ edits: [{ type: 'clear' }] }, [{ type: 'compaction' }]],
  previous_response_id: ['resp_1'],
  conversation: ['conv_1', { id: 'conv_1' }],
  background: [true],
  store: [true],
  prediction: [{ type: 'content', content: 'x' }],
  prompt: [{ id: 'pmpt_1' }, { id: 'pmpt_1', variables: {} }],
  item_reference: ['item_1', { id: 'item_1' }],
  // Empty options request a search with the defaults.
  web_search_options: [{ search_context_size: 'low' }, {}],
  search_parameters: [{ mode: 'on' }, {}],
  audio: [{ voice: 'alloy', format: 'mp3' }],
  speed: ['fast', 2],
  max_output_tokens: [1, 100_000],
  max_new_tokens: [1, 100_000],
  best_of: [2, 20],
  service_tier: ['flex', 'priority', 'scale', 7],
  modalities: [['audio'], ['text', 'audio'], ['image', 'text']],
};

const REFUSED_FIELDS = Object.entries(REFUSED_VALUES).map(([field, values]) =>
  oneField(`${field}, which is refused`, 'unsupported_feature', (body, random) => {
    body[field] = random.pick(values);
    return field;
  }),
);

/** Values without effect are accepted, even for fields that are otherwise refused. */
export const HARMLESS_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  ...Object.fromEntries(Object.keys(REFUSED_VALUES).map((field) => [field, [null]])),
  provider: [null, {}],
  models: [null, [], ['sim-gpt']],
  route: [null, ''],
  fallbacks: [null, []],
  transforms: [null, []],
  plugins: [null, []],
  preset: [null, ''],
  guardrails: [null, [], {}],
  truncation: [null, 'disabled'],
  previous_response_id: [null, ''],
  background: [null, false],
  store: [null, false],
  best_of: [null, 1],
  service_tier: [null, 'auto', 'default'],
  modalities: [null, ['text'], []],
};

const SUFFIXES = [':online', ':nitro', ':floor', ':free', ':exacto'];
const STRANGERS = ['gpt-99', 'sim', 'sim-gp', 'sim-gpt2', 'SIM-GPT', ' sim-gpt', 'sim-gpt ', '..', '__proto__', 'ключ'];
const STRANGE_FORMS = [
  'vendor/gpt-99',
  'sim-gpt/',
  '/',
  '//',
  'sim-gpt/vendor',
  'sim-gpt:beta',
  'sim-gpt@v1',
  '\u0000',
];

function model(name: string, code: string, status: number, names: readonly string[]): BadClass {
  return oneField(
    name,
    code,
    (body, random) => {
      body.model = random.pick(names);
      return 'model';
    },
    { status },
  );
}

const LONG_NAME = 'm'.repeat(201);

const MODELS: BadClass[] = [
  model('an unknown model', 'model_not_found', 404, [...STRANGERS, ...STRANGE_FORMS]),
  model('a model without a price', 'model_not_found', 404, ['unpriced-chat', 'vendor/unpriced-chat']),
  model('a model that does not chat', 'wrong_wire', 400, ['vectors-only', 'vendor/vectors-only']),
  model(
    'a suffix that chooses a host',
    'unsupported_feature',
    400,
    ['sim-gpt', 'vendor/sim-gpt', 'gpt-99'].flatMap((name) => SUFFIXES.map((suffix) => name + suffix)),
  ),
  model('an invalid model name', 'invalid_value', 400, ['', LONG_NAME, 'x'.repeat(100_000)]),
];

/** The chat-only model is asked for another capability. */
function beyond(
  name: string,
  param: string,
  field: string,
  value: (random: Parameters<BadClass['make']>[0]) => unknown,
) {
  return oneField(name, 'missing_capability', (body, random) => {
    for (const other of ['tools', 'functions', 'reasoning', 'reasoning_effort', 'include_reasoning'])
      delete body[other];
    body.model = random.pick(['chat-only', 'vendor/chat-only']);
    body.messages = [{ role: 'user', content: 'hello' }];
    body[field] = value(random);
    return param;
  });
}

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

const CAPABILITIES: BadClass[] = [
  beyond('tools for a model without', 'tools', 'tools', goodTools),
  beyond('functions for a model without tools', 'functions', 'functions', () => [{ name: 'pay' }]),
  beyond('an image for a model without eyes', 'messages[1].content[1].image_url', 'messages', () => [
    { role: 'system', content: 'look' },
    { role: 'user', content: [{ type: 'text', text: 'this' }, IMAGE] },
  ]),
  beyond('reasoning_effort for a model without', 'reasoning_effort', 'reasoning_effort', (random) =>
    random.pick(['minimal', 'low', 'high', 'max']),
  ),
  beyond('reasoning for a model without', 'reasoning', 'reasoning', (random) =>
    random.pick<unknown>([{ effort: 'low' }, { max_tokens: 10 }, { enabled: true }]),
  ),
];

export const REFUSED_FEATURES: readonly BadClass[] = [...REFUSED_FIELDS, ...MODELS, ...CAPABILITIES];
