import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../canonical/errors.ts';
import { scanJson } from '../../json/json.ts';
import { Adjustments } from '../adjustments.ts';
import { WIRES } from '../registry.ts';
import { findEssential } from './essential-fields.ts';

/** What limits a call is never dropped, on any pair of wires. */

const JSON_LIMITS = { depthMax: 64, nodesMax: 10_000, keysMax: 1_000, numberDigitsMax: 400, keyBytesMax: 1_000 };
const MARK = 4321;
const MESSAGES = [{ role: 'user', content: 'Hello' }];

const CALLERS = {
  chat: { messages: MESSAGES },
  messages: { messages: MESSAGES, max_tokens: 500 },
  responses: { input: 'Hello' },
  completions: { prompt: 'Hello' },
} as const;
type CallerWire = keyof typeof CALLERS;
const HOSTS = ['chat', 'messages', 'responses'] as const;
const PAIRS = (Object.keys(CALLERS) as CallerWire[]).flatMap((caller) =>
  HOSTS.filter((host) => host !== caller).map((host) => [caller, host] as const),
);

const SNAKE_CASE_LIMITS = [
  ...[
    'max_tokens',
    'max_completion_tokens',
    'max_output_tokens',
    'max_new_tokens',
    'max_tokens_to_sample',
    'max_length',
  ],
  ...[
    'max_time',
    'max_price',
    'max_cost_usd',
    'num_predict',
    'num_return_sequences',
    'num_generations',
    'n',
    'best_of',
  ],
  ...[
    'candidate_count',
    'stop_sequences',
    'stop_token_ids',
    'stop_strings',
    'eos_token_id',
    'thinking_budget',
    'token_limit',
  ],
  ...['reasoning_budget', 'truncate_prompt_tokens', 'timeout', 'cost_ceiling', 'spend_limit', 'token_cap', 'end_id'],
];
const inCamelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const LIMITS_OF_VENDORS = [...new Set(SNAKE_CASE_LIMITS.flatMap((name) => [name, inCamelCase(name)])), 'stop'];
const HOLDERS = ['options', 'generationConfig', 'generation_config', 'extra_body', 'sampling_params', 'parameters'];

/** What a host gets of a request, and what is named as dropped; or the name in the refusal. */
function translate(caller: CallerWire, host: (typeof HOSTS)[number], fields: object) {
  const text = scanJson(Buffer.from(JSON.stringify({ model: 'm', ...CALLERS[caller], ...fields })), JSON_LIMITS);
  const { client, hub } = WIRES[caller];
  const adjustments = new Adjustments(true, hub!.client!.fieldNames);
  try {
    const peek = client.peek(text, {});
    const request = hub!.client!.readRequest(text, peek, adjustments);
    const sent = WIRES[host].hub!.upstream!.writeRequest(request, {
      hostModel: 'm',
      stream: false,
      outputLimit: peek.outputLimit?.tokens ?? 500,
      outputLimitField: 'max_tokens',
      reasoningEffort: request.reasoning?.effort ?? null,
      thinking: 'budget',
      adjustments,
    });
    return { refused: null, sent: String(sent), adjusted: adjustments.describe(null) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refused: error.param, sent: '', adjusted: null };
  }
}

describe.each(PAIRS)('%s to %s', (caller, host) => {
  test('refuses every limit by its name, or sends it', () => {
    for (const name of LIMITS_OF_VENDORS) {
      for (const value of [MARK, [String(MARK)]]) {
        const { refused, sent, adjusted } = translate(caller, host, { [name]: value });
        expect(adjusted, name).toBeNull();
        expect(refused?.startsWith(name) || sent.includes(String(MARK)), name).toBe(true);
      }
    }
  });

  test('refuses a limit inside a field of a vendor by its path', () => {
    for (const holder of HOLDERS) {
      for (const name of LIMITS_OF_VENDORS) {
        const { refused } = translate(caller, host, { [holder]: { top_a: 0.5, inner: [{ [name]: MARK }] } });
        // Some wires refuse the field itself.
        expect([holder, `${holder}.inner[0].${name}`]).toContain(refused);
      }
    }
  });

  test('refuses reasoning that is switched off inside a field of a vendor', () => {
    const { refused } = translate(caller, host, { chat_template_kwargs: { enable_thinking: false } });
    expect(refused).toBe('chat_template_kwargs.enable_thinking');
  });

  test('switches reasoning off with enable_thinking', () => {
    const { sent, refused } = translate(caller, host, { enable_thinking: false });
    expect(refused).toBeNull();
    expect(sent).toMatch(/"(reasoning_)?effort":"none"|"type":"disabled"/);
  });
});

test('the context of a document is a part of the prompt', () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' };
  const content = [{ type: 'document', source, context: 'The tides of 1998.' }];
  for (const host of ['chat', 'responses'] as const) {
    const { refused } = translate('messages', host, { messages: [{ role: 'user', content }] });
    expect(refused).toBe('messages[0].content[0].context');
  }
});

test('other members of `reasoning` are left out and named, unless they are limits', () => {
  const reasoning = { summary: 'auto', context: 'all_turns' };
  const { refused, adjusted } = translate('responses', 'messages', { reasoning });
  expect([refused, adjusted]).toEqual([null, 'reasoning.context=dropped']);
  const limited = { reasoning: { tokenBudget: 5 } };
  expect(translate('responses', 'messages', limited).refused).toBe('reasoning.tokenBudget');
});

test.each([
  ...[
    'seed',
    'logit_bias',
    'top_a',
    'min_p',
    'min_tokens',
    'typical_p',
    'mirostat',
    'caption',
    'escape',
    'nice',
    'stream_mode',
  ],
  ...[
    'capabilities',
    'unlimited',
    'cache_salt',
    'priority',
    'echo',
    'logprobs',
    'request_id',
    'guided_regex',
    'add_special_tokens',
  ],
])('%s is no limit', (name) => {
  expect(findEssential(name, 5, name)).toBeNull();
});

test('a limit that asks for nothing is none', () => {
  expect(findEssential('options', { stop: null, n: 1, max_time: null, bad_words: [] }, 'options')).toBeNull();
});
