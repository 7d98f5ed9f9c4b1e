import { describe, expect, test } from 'vitest';
import { scanJson } from '../src/json/json.ts';
import { refusing } from '../src/wires/adjustments.ts';
import type { HubRequestTerms } from '../src/wires/hub.ts';
import { WIRES } from '../src/wires/registry.ts';

/** Values that ask for nothing are accepted where the caller and the host speak different wires, and change nothing. */

type Fields = Record<string, unknown>;

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const CALLERS = {
  chat: { model: 'm', messages: MESSAGES },
  messages: { model: 'm', max_tokens: 500, messages: MESSAGES },
  responses: { model: 'm', input: 'Hello' },
  completions: { model: 'm', prompt: 'Hello' },
} as const;
type CallerWire = keyof typeof CALLERS;
const HOSTS = ['chat', 'messages', 'responses'] as const;
type HostWire = (typeof HOSTS)[number];

const PAIRS = (Object.keys(CALLERS) as CallerWire[]).flatMap((caller) =>
  HOSTS.filter((host) => host !== caller).map((host) => ({ caller, host })),
);

const JSON_LIMITS = { depthMax: 64, nodesMax: 10_000, keysMax: 1_000, numberDigitsMax: 400, keyBytesMax: 1_000 };

const TERMS: HubRequestTerms = {
  hostModel: 'm',
  stream: false,
  outputLimit: 500,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
};

/** The request that a host of another wire gets. */
function translate(caller: CallerWire, host: HostWire, fields: Fields, terms: Partial<HubRequestTerms> = {}): Fields {
  const text = scanJson(Buffer.from(JSON.stringify({ ...CALLERS[caller], ...fields })), JSON_LIMITS);
  const { client, hub } = WIRES[caller];
  const adjustments = refusing(hub!.client!.fieldNames);
  const request = hub!.client!.readRequest(text, client.peek(text, {}), adjustments);
  const written = WIRES[host].hub!.upstream!.writeRequest(request, { ...TERMS, ...terms, adjustments });
  return JSON.parse(written.toString()) as Fields;
}

const NOTHING: Fields = {
  logit_bias: {},
  top_logprobs: 0,
  repetition_penalty: 1,
  verbosity: 'medium',
  thinking: { type: 'disabled' },
  provider: {},
  options: {},
  metadata: {},
  client_metadata: {},
  response_format: {},
  stop: '',
  usage: { include: true },
  n: 1,
  best_of: 1,
  min_p: 0,
  top_a: 0,
  an_unknown_object: {},
  an_unknown_list: [],
  an_unknown_text: '',
  an_unknown_flag: false,
  an_unknown_null: null,
};

describe.each(PAIRS)('$caller to $host', ({ caller, host }) => {
  test.each(Object.entries(NOTHING))('accepts %s if it is %j', (name, value) => {
    expect(translate(caller, host, { [name]: value })).toEqual(translate(caller, host, {}));
  });

  test('refuses a value that asks for something, by its name', () => {
    for (const [name, value] of Object.entries({ logit_bias: { 50256: -100 }, repetition_penalty: 1.1, min_p: 0.1 })) {
      expect(() => translate(caller, host, { [name]: value })).toThrow(
        expect.objectContaining({ kind: 'unsupported_parameter', param: name }),
      );
    }
  });

  test('accepts `client_metadata` as a label, whatever it says', () => {
    const fields = { client_metadata: { installation: 'i-1', turn: 7 } };
    expect(translate(caller, host, fields)).toEqual(translate(caller, host, {}));
  });
});

test.each<[CallerWire, Fields]>([
  ['chat', { tool_choice: {} }],
  ['chat', { tool_choice: '' }],
  ['responses', { tool_choice: '' }],
  ['messages', { tool_choice: {} }],
  ['messages', { output_format: {} }],
  ['messages', { output_config: { format: {} } }],
  ['messages', { service_tier: '', speed: '', inference_geo: '' }],
])('%s accepts %j for a host of another wire', (caller, fields) => {
  for (const host of HOSTS.filter((one) => one !== caller)) {
    expect(translate(caller, host, fields)).toEqual(translate(caller, host, {}));
  }
});

describe.each(['chat', 'responses', 'completions'] as const)('thinking switched off on %s', (caller) => {
  test('switches it off at a messages host whose model can think', () => {
    const written = translate(caller, 'messages', { thinking: { type: 'disabled' } }, { thinking: 'budget' });
    expect(written.thinking).toEqual({ type: 'disabled' });
  });

  test('is refused together with an effort', () => {
    const fields = { thinking: { type: 'disabled' }, reasoning_effort: 'high' };
    expect(() => translate(caller, 'messages', fields)).toThrow(expect.objectContaining({ param: 'thinking' }));
  });
});

describe('verbosity', () => {
  test.each(['low', 'high'])('%s is translated between chat and responses', (verbosity) => {
    expect(translate('chat', 'responses', { verbosity }).text).toEqual({ verbosity });
    expect(translate('responses', 'chat', { text: { verbosity } }).verbosity).toBe(verbosity);
  });

  test('goes beside the format of the answer', () => {
    const fields = { verbosity: 'low', response_format: { type: 'json_object' } };
    expect(translate('chat', 'responses', fields).text).toEqual({ format: { type: 'json_object' }, verbosity: 'low' });
  });

  test('other than medium is refused for a messages host, by the name that the caller wrote', () => {
    expect(() => translate('chat', 'messages', { verbosity: 'low' })).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', param: 'verbosity' }),
    );
    expect(() => translate('responses', 'messages', { text: { verbosity: 'low' } })).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', param: 'text.verbosity' }),
    );
  });

  test('that no wire knows is refused by its name', () => {
    expect(() => translate('chat', 'responses', { verbosity: 'loud' })).toThrow(
      expect.objectContaining({ param: 'verbosity' }),
    );
    expect(() => translate('responses', 'chat', { text: { verbosity: 'loud' } })).toThrow(
      expect.objectContaining({ param: 'text.verbosity' }),
    );
  });
});

describe('the name of a message', () => {
  const named = [{ role: 'user', name: 'ada', content: 'Hello' }];

  test.each(['messages', 'responses'] as const)('is left out for a %s host', (host) => {
    expect(translate('chat', host, { messages: named })).toEqual(translate('chat', host, {}));
  });
});
