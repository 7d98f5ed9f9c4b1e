import type { Random } from '../random.ts';

export type Body = Record<string, unknown>;

const WORDS = [
  'toll',
  'gate',
  'Brücke',
  '橋',
  '🛂',
  'a "quoted" word',
  'line\nbreak',
  'back\\slash',
  '\u0000\u001f',
  '',
];

/** A valid chat request, with different content each time. */
export function goodBody(random: Random): Body {
  const body: Body = { model: random.pick(MODELS), messages: goodMessages(random) };
  for (const [field, make] of Object.entries(OPTIONAL_FIELDS)) {
    if (random.chance(0.15)) body[field] = make(random);
  }
  if (body.stream === true && random.chance(0.5)) body.stream_options = { include_usage: random.chance(0.5) };
  if (random.chance(0.2)) body.tools = goodTools(random);
  return random.chance(0.5) ? body : shuffled(body, random);
}

/** Models that have every capability that these bodies need; a name with a vendor prefix means the same model. */
const MODELS = ['sim-gpt', 'sim-gpt-mini', 'vendor/sim-gpt', 'a/b/sim-gpt-mini'];

const OPTIONAL_FIELDS: Readonly<Record<string, (random: Random) => unknown>> = {
  max_tokens: (random) => random.between(1, 20),
  max_completion_tokens: (random) => random.between(1, 20),
  temperature: (random) => random.next() * 2,
  top_p: (random) => random.next(),
  frequency_penalty: () => -1.5,
  presence_penalty: () => 0,
  seed: (random) => random.below(1_000_000),
  stop: (random) => random.pick<unknown>(['end', ['one', 'two'], null]),
  stream: (random) => random.chance(0.5),
  n: (random) => random.between(1, 3),
  logit_bias: () => ({ '50256': -100 }),
  logprobs: () => false,
  parallel_tool_calls: () => true,
  tool_choice: () => 'auto',
  response_format: () => ({ type: 'json_object' }),
  user: (random) => random.pick(WORDS),
  session_id: () => 's-1',
  metadata: () => ({ team: 'bridge', shift: 'night' }),
  usage: () => ({ include: true }),
  reasoning_effort: () => 'low',
  include_reasoning: (random) => random.chance(0.5),
  verbosity: () => 'low',
  an_unknown_field: (random) => random.pick<unknown>([1, 'x', [[]], { deep: { deeper: [] } }, null]),
};

function goodMessages(random: Random): Body[] {
  const messages: Body[] = [];
  if (random.chance(0.3)) messages.push({ role: random.pick(['system', 'developer']), content: text(random) });
  const turns = random.between(1, 3);
  for (let turn = 0; turn < turns; turn++)
    messages.push(goodUser(random), { role: 'assistant', content: text(random) });
  messages.push(goodUser(random));
  return messages;
}

function goodUser(random: Random): Body {
  const message: Body = { role: 'user', content: random.chance(0.3) ? goodParts(random) : text(random) };
  if (random.chance(0.1)) message.name = 'ada';
  return message;
}

function goodParts(random: Random): Body[] {
  const parts: Body[] = [{ type: 'text', text: text(random) }];
  if (random.chance(0.3)) parts.push({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } });
  return parts;
}

export function goodTools(random: Random): Body[] {
  const tool = (name: string): Body => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: { bridge: { type: 'string' } } } },
  });
  return random.chance(0.5) ? [tool('pay')] : [tool('pay'), tool('pass')];
}

function text(random: Random): string {
  const words = random.between(1, 6);
  return Array.from({ length: words }, () => random.pick(WORDS)).join(' ');
}

/** The order of members means nothing in JSON, and must mean nothing to us. */
function shuffled(body: Body, random: Random): Body {
  const entries = Object.entries(body);
  for (let at = entries.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [entries[at], entries[other]] = [entries[other]!, entries[at]!];
  }
  return Object.fromEntries(entries);
}
