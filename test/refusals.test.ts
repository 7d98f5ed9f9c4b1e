import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FOREIGN_HEADER_NAMES } from '../src/gateway/foreign-headers.ts';
import { PREFIXES } from '../src/http/path-aliases.ts';
import { REFUSED_ROUTES } from '../src/http/routes.ts';
import { REFUSED_EVERYWHERE } from '../src/wires/fields/refused-fields.ts';
import { type Harness, startHarness } from './harness.ts';
import { WIRE_CASES } from './wire-cases.ts';

/** Everything that is refused by name, on every wire: nothing is dropped silently, and nothing empty is refused. */

interface FieldCase {
  /** Values that ask for something. */
  readonly asks: readonly unknown[];
  /** Values that ask for nothing; null always does. */
  readonly harmless: readonly unknown[];
}

const asking = (...asks: unknown[]): FieldCase => ({ asks, harmless: [] });
const field = (asks: readonly unknown[], ...harmless: unknown[]): FieldCase => ({ asks, harmless });

/** The closed list of the aggregators' fields and of what has no price; a field of the program without a row fails. */
const FIELDS: Readonly<Record<string, FieldCase>> = {
  provider: field([{ order: ['a'] }, { only: ['a'] }, 'a'], {}, ''),
  models: field([['a', 'b'], ['another']], [], ['@model']),
  route: field(['fallback'], ''),
  fallbacks: field([['a'], [{ model: 'a' }]], []),
  transforms: field([['middle-out']], []),
  plugins: field([[{ id: 'web' }]], []),
  preset: field(['@preset/mine'], ''),
  prompt: field([{ id: 'pmpt_1' }], {}),
  guardrails: field([['pii'], { input: ['pii'] }], [], {}),
  moderation: field([true, { model: 'omni' }], false, {}),
  truncation: field(['auto', true], 'disabled', false),
  context_management: field([{ edits: [1] }, [{ type: 'compaction' }]], [], {}),
  previous_response_id: field(['resp_1'], ''),
  conversation: field(['conv_1', { id: 'conv_1' }], ''),
  background: field([true], false),
  item_reference: field(['item_1', { id: 'item_1' }], ''),
  store: field([true], false),
  prediction: field([{ type: 'content', content: 'x' }], {}),
  service_tier: field(['flex', 'priority'], 'auto'),
  speed: field(['fast']),
  modalities: field([['audio'], ['text', 'image']], ['text']),
  audio: field([{ voice: 'alloy' }], {}),
  // Empty options switch a search on.
  web_search_options: asking({}, { search_context_size: 'low' }),
  search_parameters: asking({}, { mode: 'on' }),
  search_options: asking({}),
  search_settings: asking({}),
  enable_search: field([true], false),
  connectors: field([[{ id: 'web-search' }]], []),
  n_predict: asking(5),
  num_predict: asking(5),
  max_length: asking(5),
  max_gen_len: asking(5),
  max_new_tokens: asking(5),
  options: field([{ num_predict: 9 }], {}),
  generation_config: field([{ max_output_tokens: 9 }], {}),
  extra_body: field([{ model: 'b' }], {}),
  chat_template: field(['{{ messages }}'], ''),
  mm_processor_kwargs: field([{ max_pixels: 9 }], {}),
  vl_high_resolution_images: field([true], false),
};

/** Where a field is the wire's own and means something else. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  prompt: ['/v1/completions', '/v1/embeddings'],
};

/** Headers that ask other gateways for what is not done here. */
const HEADERS: readonly [name: string, value: string, remedy: string][] = [
  ['helicone-ratelimit-policy', '10;w=60;u=request', 'x-gateway-max-cost-nanousd'],
  ['helicone-moderations-enabled', 'true', 'moderated'],
  ['helicone-llm-security-enabled', 'true', 'scanned'],
  ['helicone-llm-security-advanced', 'true', 'scanned'],
  ['helicone-fallbacks', '[{}]', 'one model'],
  ['helicone-target-url', 'https://host.example', 'pinned'],
  ['helicone-target-provider', 'someone', 'pinned'],
  ['x-portkey-config', '{"strategy":{"mode":"fallback"}}', 'pinned'],
  ['x-portkey-provider', 'someone', 'pinned'],
  ['x-portkey-virtual-key', 'someone', 'pinned'],
  ['x-portkey-custom-host', 'https://host.example', 'pinned'],
];

/** One case for each wire is enough: fields are refused before any host is known. */
const WIRES = Object.entries(WIRE_CASES).filter(
  ([, { path }], at, all) => all.findIndex(([, other]) => other.path === path) === at,
);

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.sim.reset());
afterEach(async () => {
  await harness.settled();
  await harness.expectCleanBooks();
});
afterAll(() => harness.stop());

interface Refused {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly message: string;
}

async function refusal(response: Response): Promise<Refused> {
  const { error } = (await response.json()) as { error: Omit<Refused, 'status'> };
  expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
  expect(response.headers.get('x-should-retry')).toBe('false');
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

const REFUSED = { status: 400, code: 'unsupported_feature' };

test('every field the program refuses everywhere has a row here', () => {
  expect(Object.keys(REFUSED_EVERYWHERE).filter((name) => FIELDS[name] === undefined)).toEqual([]);
});

test('the page of refusals names every field, header and route', () => {
  const page = readFileSync(new URL('../docs/refusals.md', import.meta.url), 'utf8');
  const named = [...Object.keys(FIELDS), ...HEADERS.map(([name]) => name), ...REFUSED_ROUTES.map(({ path }) => path)];
  expect(named.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  expect(FOREIGN_HEADER_NAMES.toSorted()).toEqual(HEADERS.map(([name]) => name).toSorted());
});

describe.each(WIRES)('%s', (_name, { path, body }) => {
  const fields = Object.entries(FIELDS).filter(([name]) => !OWN[name]?.includes(path));
  const ask = (more: object, headers = {}) => harness.post({ ...body, ...more }, headers, path);

  test.each(fields)('%s is refused by name, before any hold or host', async (name, { asks }) => {
    for (const value of asks) {
      const refused = await refusal(await ask({ [name]: value }));
      expect([value, refused]).toEqual([value, expect.objectContaining({ ...REFUSED, param: name })]);
      expect(refused.message).toContain(`\`${name}\``);
    }
    expect(harness.sim.received()).toBe(0);
    expect((await harness.running.books.ledger.verify()).openHolds).toBe(0);
  });

  test('empty values ask for nothing and are let through, unseen by the host where the field is not its wire’s', async () => {
    for (const [name, { harmless }] of fields) {
      for (const value of [null, ...harmless]) {
        const said = JSON.parse(JSON.stringify(value).replaceAll('@model', String(body.model))) as unknown;
        const response = await ask({ [name]: said });
        expect([name, said, response.status, response.ok ? '' : await response.text()]).toEqual([name, said, 200, '']);
      }
    }
    const sent = harness.sim.calls.map((call) => JSON.parse(call.body) as Record<string, unknown>);
    for (const name of ['provider', 'models', 'route', 'fallbacks', 'transforms', 'plugins', 'preset', 'guardrails']) {
      expect(sent.filter((request) => request[name] !== undefined)).toEqual([]);
    }
  });

  test.each([':online', ':nitro', ':floor', ':free', ':exacto'])('the suffix %s is refused', async (suffix) => {
    for (const model of [body.model, `vendor/${body.model}`, 'unknown'])
      expect(await refusal(await ask({ model: `${model}${suffix}` }))).toMatchObject({ ...REFUSED, param: 'model' });
    expect(harness.sim.received()).toBe(0);
  });

  test.each(HEADERS)('the header %s of another gateway is refused, unless it says no', async (name, value, remedy) => {
    const refused = await refusal(await ask({}, { [name]: value }));
    expect(refused).toMatchObject({ ...REFUSED, param: name, message: expect.stringContaining(remedy) });
    expect(harness.sim.received()).toBe(0);
    expect((await ask({}, { [name]: 'false' })).status).toBe(200);
  });

  test('a second spelling of a name that decides is refused', async () => {
    for (const name of ['Model', 'Max_Tokens', 'PROVIDER']) {
      expect(await refusal(await ask({ [name]: 'x' }))).toMatchObject({
        status: 400,
        code: 'duplicate_key',
        param: name,
      });
    }
    expect(harness.sim.received()).toBe(0);
  });

  test('what tells a service who is calling is taken and goes no further', async () => {
    const response = await ask({}, { 'http-referer': 'https://app.example', 'x-title': 'App' });
    expect(response.status).toBe(200);
    const [call] = harness.sim.calls;
    expect([call?.headers['http-referer'], call?.headers['x-title']]).toEqual([undefined, undefined]);
  });
});

/** What stands inside messages, items and tools. */
describe.each<[string, string, object, object]>([
  [
    'a server-side tool',
    '/v1/chat/completions',
    { model: 'sim-gpt', messages: [{ role: 'user', content: 'x' }], tools: [{ type: 'web_search_preview' }] },
    { param: 'tools[0].type' },
  ],
  [
    'a server-side tool on the messages wire',
    '/v1/messages',
    {
      model: 'sim-claude',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
    { param: 'tools[0].type' },
  ],
  [
    'a server-side tool on the responses wire',
    '/v1/responses',
    { model: 'sim-responses', input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['v'] }] },
    { param: 'tools[0].type' },
  ],
  [
    'an item kept elsewhere',
    '/v1/responses',
    { model: 'sim-responses', input: [{ type: 'item_reference', id: 'i' }] },
    { param: 'input[0].type' },
  ],
  [
    'audio in a message',
    '/v1/chat/completions',
    { model: 'sim-gpt', messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    { param: 'messages[0].content[0].type' },
  ],
  [
    'a file by its id',
    '/v1/chat/completions',
    { model: 'sim-gpt', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    { param: 'messages[0].content[0].file.file_id' },
  ],
  [
    'a file by its address',
    '/v1/responses',
    { model: 'sim-responses', input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://x' }] }] },
    { param: 'input[0].content[0].file_url' },
  ],
  [
    'a document by its id on the messages wire',
    '/v1/messages',
    {
      model: 'sim-claude',
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }],
    },
    { param: 'messages[0].content[0].source' },
  ],
])('%s', (_name, path, body, expected) => {
  test('is refused by its place', async () => {
    expect(await refusal(await harness.post(body, {}, path))).toMatchObject({ ...REFUSED, ...expected });
    expect(harness.sim.received()).toBe(0);
  });
});

/** Every route the interface names as refused. */
const ROUTES = [
  ...['images', 'rerank', 'moderations', 'audio', 'files', 'batches', 'fine_tuning', 'assistants', 'threads'],
  ...['vector_stores', 'realtime', 'generation', 'credits'],
];

test('every refused route of the interface is in the table', () => {
  const paths = REFUSED_ROUTES.map(({ path }) => path);
  expect(ROUTES.filter((name) => !paths.includes(`/${name}`))).toEqual([]);
});

describe.each(PREFIXES)('under the prefix "%s"', (prefix) => {
  test.each(REFUSED_ROUTES)('$path is refused by name, with the nearest equivalent', async ({ path, instead }) => {
    const places = path.endsWith('/') ? [`${path}some/thing`] : [path, `${path}/some/thing`];
    for (const place of places) {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
        const refused = await refusal(await fetch(harness.url + prefix + place, { method, ...body }));
        expect([place, method, refused]).toEqual([
          place,
          method,
          expect.objectContaining({ status: 404, code: 'unsupported_route' }),
        ]);
        expect(refused.message).toContain(instead);
      }
    }
    expect(harness.sim.received()).toBe(0);
  });
});
