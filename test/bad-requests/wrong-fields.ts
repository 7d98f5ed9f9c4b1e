import type { Random } from '../random.ts';
import { type BadClass, oneField, type Spoil, verbatim, writeVerbatim } from './bad-class.ts';
import { type Body, goodTools } from './good-body.ts';

/** Values by kind; null is never a wrong value, since it counts as absent. */
const VALUES = {
  string: ['', 'x', 'auto', '1', 'true'],
  integer: [0, 1, -7, 4096],
  fraction: [0.5, -1.25, 1e-7],
  infinite: [verbatim('1e400'), verbatim('-1e400')],
  boolean: [true, false],
  list: [[], [1], [[]], [null]],
  object: [{}, { x: 1 }, { type: 'auto' }],
} as const satisfies Record<string, readonly unknown[]>;
type Kind = keyof typeof VALUES;

const NUMBER: readonly Kind[] = ['integer', 'fraction', 'infinite'];

/** Every known field whose type we check, with the kinds of value it may have. */
const FIELD_KINDS: Readonly<Record<string, readonly Kind[]>> = {
  model: ['string'],
  messages: ['list'],
  max_tokens: ['integer'],
  max_completion_tokens: ['integer'],
  n: ['integer'],
  frequency_penalty: NUMBER,
  presence_penalty: NUMBER,
  temperature: NUMBER,
  top_p: NUMBER,
  seed: ['integer'],
  top_logprobs: ['integer'],
  logit_bias: ['object'],
  logprobs: ['boolean'],
  parallel_tool_calls: ['boolean'],
  stop: ['string', 'list'],
  stream: ['boolean'],
  stream_options: ['object'],
  tool_choice: ['string', 'object'],
  tools: ['list'],
  functions: ['list'],
  function_call: ['string', 'object'],
  usage: ['object'],
  user: ['string'],
  safety_identifier: ['string'],
  prompt_cache_key: ['string'],
  session_id: ['string'],
  metadata: ['object'],
  client_metadata: ['object'],
  verbosity: ['string'],
  modalities: ['list'],
  reasoning: ['object'],
  reasoning_effort: [],
  include_reasoning: ['boolean'],
};

function valueOutside(kinds: readonly Kind[], random: Random): unknown {
  const wrong = Object.entries(VALUES).filter(([kind]) => !kinds.includes(kind as Kind));
  return random.pick(wrong.flatMap(([, values]): readonly unknown[] => values));
}

const WRONG_TYPES = Object.entries(FIELD_KINDS).map(([field, kinds]) =>
  invalid(`${field} of another type`, (body, random) => {
    body[field] = valueOutside(kinds, random);
    return field;
  }),
);

function invalid(name: string, spoil: Spoil): BadClass {
  return oneField(name, 'invalid_value', spoil, { rewrite: writeVerbatim });
}

const MISSING = ['model', 'messages'].flatMap((field) => [
  oneField(`no ${field}`, 'missing_required_parameter', (body) => {
    delete body[field];
    return field;
  }),
  oneField(`${field} null`, 'missing_required_parameter', (body) => {
    body[field] = null;
    return field;
  }),
]);

function set(field: string, values: readonly unknown[]): Spoil {
  return (body, random) => {
    body[field] = random.pick(values);
    return field;
  };
}

const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'];

const NUMBERS: BadClass[] = [
  invalid('an output limit that is not a positive integer', (body, random) => {
    const field = random.pick(OUTPUT_LIMITS);
    const bad = [0, -1, 0.5, 1.5, '100', verbatim('1e400'), verbatim('-0'), 2 ** 53, verbatim('1e-3'), true, [1], {}];
    body[field] = random.pick(bad);
    return field;
  }),
  invalid('an output limit above the model’s own', (body, random) => {
    for (const field of OUTPUT_LIMITS) delete body[field];
    const field = random.pick(OUTPUT_LIMITS);
    body[field] = random.pick<unknown>([16_385, 100_000, 2 ** 53 - 1, verbatim('1.6385e4'), verbatim('16385.0')]);
    return field;
  }),
  invalid('n out of range', set('n', [0, -1, 129, 1000, 1.5, '2', verbatim('1e400'), 2 ** 53])),
  invalid('a seed that no integer holds', set('seed', [verbatim('1e400'), 0.1])),
  invalid('stop with something that is not a string', set('stop', [[1], ['x', null], [['x']], ['x', {}]])),
];

const STREAM_OPTIONS: BadClass[] = [
  invalid('stream_options without a stream', (body, random) => {
    if (random.chance(0.5)) delete body.stream;
    else body.stream = random.pick([false, null]);
    body.stream_options = random.pick<unknown>([{}, { include_usage: true }, { include_usage: false }]);
    return 'stream_options';
  }),
  invalid('include_usage of another type', (body, random) => {
    body.stream = true;
    body.stream_options = { include_usage: valueOutside(['boolean'], random) };
    return 'stream_options.include_usage';
  }),
];

/** Each names the field that the error message says to change. */
const REASONING_FAULTS: readonly (readonly [string, unknown, Record<string, unknown>])[] = [
  ['reasoning_effort', 'low', { reasoning: { effort: 'high' } }],
  ['reasoning_effort', 'none', { reasoning: { effort: 'medium' } }],
  ['reasoning.max_tokens', 'high', { reasoning: { max_tokens: 10 } }],
  ['include_reasoning', undefined, { include_reasoning: true, reasoning: { exclude: true } }],
  ['include_reasoning', undefined, { include_reasoning: false, reasoning: { exclude: false } }],
  ['reasoning', undefined, { reasoning: { effort: 'low', max_tokens: 10 } }],
  ['reasoning.enabled', undefined, { reasoning: { enabled: true, effort: 'none' } }],
  ['reasoning.enabled', undefined, { reasoning: { enabled: false, effort: 'low' } }],
  ['reasoning.enabled', undefined, { reasoning: { enabled: false, max_tokens: 10 } }],
  ['reasoning.enabled', undefined, { reasoning: { enabled: 'yes' } }],
  ['reasoning.exclude', undefined, { reasoning: { exclude: 1 } }],
  ['reasoning.effort', undefined, { reasoning: { effort: 'extreme' } }],
  ['reasoning.max_tokens', undefined, { reasoning: { max_tokens: 0 } }],
  ['reasoning.max_tokens', undefined, { reasoning: { max_tokens: 1.5 } }],
  ['reasoning_effort', 'HIGH', {}],
];

const REASONING = invalid('reasoning that is wrong or contradicts itself', (body, random) => {
  const [param, word, other] = random.pick(REASONING_FAULTS);
  for (const field of ['reasoning', 'reasoning_effort', 'include_reasoning']) delete body[field];
  if (word !== undefined) body.reasoning_effort = word;
  Object.assign(body, other);
  return param;
});

const TOOL_FAULTS: readonly (readonly [string, (tool: Body) => unknown])[] = [
  ['', () => 'pay'],
  ['', () => null],
  ['.type', ({ type: _, ...rest }) => rest],
  ['.type', (tool) => ({ ...tool, type: 7 })],
  ['.function.name', ({ function: _, ...rest }) => rest],
  ['.function.name', (tool) => ({ ...tool, function: { ...(tool.function as Body), name: '' } })],
  ['.function.name', (tool) => ({ ...tool, function: { ...(tool.function as Body), name: 5 } })],
  ['.function.name', (tool) => ({ ...tool, function: { parameters: {} } })],
  ['.custom.name', () => ({ type: 'custom', custom: {} })],
];

const TOOLS: BadClass[] = [
  invalid('an invalid tool', (body, random) => {
    const tools = goodTools(random);
    const at = random.below(tools.length);
    const [member, spoil] = random.pick(TOOL_FAULTS);
    body.tools = tools.with(at, spoil(tools[at]!) as Body);
    return `tools[${at}]${member}`;
  }),
  oneField('a tool that runs on the vendor’s side', 'unsupported_feature', (body, random) => {
    const tools = goodTools(random);
    const type = random.pick(['web_search', 'web_search_preview', 'file_search', 'code_interpreter', 'mcp', 'bash']);
    body.tools = [...tools, { type }];
    return `tools[${tools.length}].type`;
  }),
];

export const WRONG_FIELDS: readonly BadClass[] = [
  ...WRONG_TYPES,
  ...MISSING,
  ...NUMBERS,
  ...STREAM_OPTIONS,
  REASONING,
  ...TOOLS,
];
