import { goodBody } from '../../test/bad-requests/good-body.ts';
import type { Random } from '../../test/random.ts';
import type { AttackClass, Means } from './attack-class.ts';
import { CLOSE, HOST, JSON_TYPE } from './raw-request.ts';

/** Every route with a body, with a model it serves and its required fields. */
const ROUTES: Readonly<Record<string, () => Record<string, unknown>>> = {
  'POST /v1/chat/completions': () => ({ model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] }),
  'POST /v1/messages': () => ({ model: 'sim-claude', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] }),
  'POST /v1/messages/count_tokens': () => ({ model: 'sim-claude', messages: [{ role: 'user', content: 'hello' }] }),
  'POST /v1/responses': () => ({ model: 'sim-responses', input: 'hello' }),
  'POST /v1/completions': () => ({ model: 'sim-gpt', prompt: 'hello' }),
  'POST /v1/embeddings': () => ({ model: 'sim-embed', input: 'hello' }),
  'POST /v1/systemone': () => ({ model: 'sim-decide', state: 'hello', questions: { sure: { type: 'noul' } } }),
  'POST /v1/decisions': () => ({
    model: 'sim-decide',
    input: 'hello',
    questions: [{ type: 'predicate', name: 'sure', instructions: 'Is it?' }],
  }),
  'POST /v1/quote': () => ({ path: '/v1/chat/completions', body: { model: 'sim-gpt', messages: [] } }),
  'PUT /v1/keys/cloud': () => ({ api_key: 'somebody', base_url: 'https://10.0.0.1/openai/v1' }),
  'PUT /v1/keys/nobody': () => ({}),
};

const FIELDS = [
  ...['model', 'messages', 'input', 'prompt', 'state', 'questions', 'system', 'instructions', 'path', 'body'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'best_of', 'stream', 'stream_options', 'stop'],
  ...[
    'stop_sequences',
    'tools',
    'tool_choice',
    'functions',
    'response_format',
    'text',
    'reasoning',
    'reasoning_effort',
  ],
  ...['thinking', 'temperature', 'top_p', 'seed', 'logprobs', 'logit_bias', 'metadata', 'user', 'dimensions'],
  ...['encoding_format', 'cache_control', 'include', 'parallel_tool_calls', 'service_tier', 'modalities', 'usage'],
  ...['suffix', 'echo', 'api_key', 'base_url', 'output_config', 'context_management', '__proto__', 'constructor', ''],
];

const INNER = [
  ...['role', 'content', 'type', 'text', 'name', 'id', 'function', 'arguments', 'parameters', 'tool_calls'],
  ...['tool_call_id', 'image_url', 'url', 'source', 'data', 'media_type', 'tool_use_id', 'signature', 'thinking'],
  ...['criteria', 'choices', 'levels', 'value', 'label', 'description', 'effort', 'budget_tokens', 'format', 'schema'],
  ...['call_id', 'output', 'summary', 'encrypted_content', 'json_schema', 'toString', '__proto__'],
];

const WORDS = [
  ...['user', 'assistant', 'system', 'tool', 'developer', 'text', 'image_url', 'tool_use', 'tool_result', 'thinking'],
  ...['function', 'function_call', 'function_call_output', 'message', 'reasoning', 'input_text', 'output_text', 'auto'],
  ...['none', 'any', 'json_schema', 'json_object', 'ephemeral', 'noul', 'choice', 'score', 'predicate', 'base64'],
  ...['data:image/png;base64,AAAA', 'https://evil.example/x.png', '{"a":1}', '{', '\0', '\ud800', '🙂', '', 'sim-gpt'],
];

function value(random: Random, depth: number): unknown {
  const scalars: (() => unknown)[] = [
    () => random.pick(WORDS),
    () => random.pick(WORDS),
    () => random.pick([0, 1, -1, 0.5, 1e308, -0, 2 ** 53, 1e21, 4096]),
    () => random.pick([true, false, null]),
  ];
  if (depth > 4 || random.chance(0.45)) return random.pick(scalars)();
  if (random.chance(0.5)) return Array.from({ length: random.below(4) }, () => value(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: random.below(5) }, () => [random.pick(INNER), value(random, depth + 1)]),
  );
}

function send(route: string, body: string, { key }: Means): Buffer {
  const [method, path] = route.split(' ');
  const bytes = Buffer.from(body);
  const lines = [HOST, key, JSON_TYPE, CLOSE, `content-length: ${bytes.length}`];
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** There must be one response, of any kind. */
function isAnswered(answers: readonly unknown[]): string | null {
  return answers.length === 1 ? null : `${answers.length} answers`;
}

export const FUZZED_BODIES: readonly AttackClass[] = [
  {
    name: 'fields of any kind on every wire',
    weight: 20,
    make: (random, means) => {
      const route = random.pick(Object.keys(ROUTES));
      const body: Record<string, unknown> = ROUTES[route]!();
      for (let fields = random.between(1, 4); fields > 0; fields--) body[random.pick(FIELDS)] = value(random, 0);
      const pieces = [send(route, JSON.stringify(body), means)];
      return { pieces, after: 'wait', answersMax: 1, judge: isAnswered };
    },
  },
  {
    name: 'bodies of one wire on another',
    weight: 4,
    make: (random, means) => {
      const route = random.pick(Object.keys(ROUTES));
      const foreign = ROUTES[random.pick(Object.keys(ROUTES))]!();
      const body = random.chance(0.5) ? goodBody(random) : { ...foreign, ...(value(random, 4) as object) };
      return { pieces: [send(route, JSON.stringify(body), means)], after: 'wait', answersMax: 1, judge: isAnswered };
    },
  },
];
