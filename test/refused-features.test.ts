import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PREFIXES } from '../src/http/path-aliases.ts';
import { REFUSED_EVERYWHERE } from '../src/wires/fields/refused-fields.ts';
import { type Harness, startHarness } from './harness.ts';
import { WIRE_CASES } from './wire-cases.ts';

/** Sends every row of docs/refusals.md on every wire: what asks for something is refused by name, what asks for nothing is not. */

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** The rows of the page's tables, by the heading of their first column. */
function rowsUnder(heading: string): readonly (readonly [names: string, instead: string])[] {
  const [, table] = read('docs/refusals.md').split(`\n| ${heading} | instead |\n`);
  const lines = table!.slice(0, table!.indexOf('\n\n')).split('\n').slice(1);
  return lines.map((line) => line.split('|').slice(1, 3) as [string, string]);
}

/** The names in the first column, without those in brackets, which are values. */
function namesUnder(heading: string): string[] {
  return rowsUnder(heading).flatMap(([names]) =>
    [...names.replace(/\([^)]*\)/g, '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
}

interface FieldCase {
  /** Values that ask for something. */
  readonly asks: readonly unknown[];
  /** Values that ask for nothing; null always does. */
  readonly harmless: readonly unknown[];
}

const field = (asks: readonly unknown[], ...harmless: unknown[]): FieldCase => ({ asks, harmless });

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
  service_tier: field(['flex', 'priority'], 'auto', ''),
  speed: field(['fast'], ''),
  modalities: field([['audio'], ['text', 'image']], ['text'], []),
  audio: field([{ voice: 'alloy' }], {}),
  // Empty options switch a search on.
  web_search_options: field([{}, { search_context_size: 'low' }]),
  search_parameters: field([{}, { mode: 'on' }]),
  search_options: field([{}]),
  search_settings: field([{}]),
  enable_search: field([true], false),
  connectors: field([[{ id: 'web-search' }]], []),
  n_predict: field([5]),
  num_predict: field([5]),
  max_length: field([5]),
  max_gen_len: field([5]),
  max_new_tokens: field([5]),
  options: field([{ num_predict: 9 }], {}),
  generation_config: field([{ max_output_tokens: 9 }], {}),
  extra_body: field([{ model: 'b' }], {}),
  chat_template: field(['{{ messages }}'], ''),
  mm_processor_kwargs: field([{ max_pixels: 9 }], {}),
  vl_high_resolution_images: field([true], false),
};

/** Where a field is the wire's own and means something else. */
const OWN: Readonly<Record<string, readonly string[]>> = { prompt: ['/v1/completions', '/v1/embeddings'] };

/** A value that asks another gateway for the feature, and a word of our remedy. */
const HEADERS: Readonly<Record<string, readonly [value: string, remedy: string]>> = {
  'helicone-ratelimit-policy': ['10;w=60;u=request', 'x-gateway-max-cost-nanousd'],
  'helicone-moderations-enabled': ['true', 'moderated'],
  'helicone-llm-security-enabled': ['true', 'scanned'],
  'helicone-llm-security-advanced': ['true', 'scanned'],
  'helicone-fallbacks': ['[{}]', 'one model'],
  'helicone-target-url': ['https://host.example', 'pinned'],
  'helicone-target-provider': ['someone', 'pinned'],
  'x-portkey-config': ['{"strategy":{"mode":"fallback"}}', 'pinned'],
  'x-portkey-provider': ['someone', 'pinned'],
  'x-portkey-virtual-key': ['someone', 'pinned'],
  'x-portkey-custom-host': ['https://host.example', 'pinned'],
};

const SUFFIXES = [':online', ':nitro', ':floor', ':free', ':exacto'];

/** One case for each route is enough: fields are refused before any host is known. */
const ROUTES = Object.entries(WIRE_CASES).filter(
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

describe('the page of refusals', () => {
  test('names every field that the program refuses on every wire, and each has values here', () => {
    const named = namesUnder('field').filter((name) => name !== 'model' && !name.startsWith(':'));
    expect(Object.keys(FIELDS).toSorted()).toEqual(named.toSorted());
    expect(Object.keys(REFUSED_EVERYWHERE).filter((name) => !named.includes(name))).toEqual([]);
    expect(namesUnder('field').filter((name) => name.startsWith(':'))).toEqual(SUFFIXES);
  });

  test('names every header of another gateway that the program refuses', () => {
    const known = [...read('src/gateway/foreign-headers.ts').matchAll(/^ {2}\['([a-z-]+)',/gm)].map(([, name]) => name);
    expect(known.toSorted()).toEqual(namesUnder('header for another gateway').toSorted());
    expect(known.toSorted()).toEqual(Object.keys(HEADERS).toSorted());
  });

  test('names every route that the program refuses', () => {
    const known = [...read('src/http/routes.ts').matchAll(/^ *(?:\{ )?path: '([^']+)'/gm)].map(([, path]) => path);
    const named = namesUnder('route').filter((name) => name.startsWith('/'));
    expect(known.toSorted()).toEqual(named.toSorted());
  });
});

describe.each(ROUTES)('%s', (_name, { path, body }) => {
  const fields = Object.entries(FIELDS).filter(([name]) => !OWN[name]?.includes(path));
  const ask = (more: object, headers = {}) => harness.post({ ...body, ...more }, headers, path);

  test.each(fields)('%s is refused by name, before any hold or host', async (name, { asks }) => {
    for (const value of asks) {
      const refused = await refusal(await ask({ [name]: value }));
      expect([value, refused]).toEqual([value, expect.objectContaining({ ...REFUSED, param: name })]);
      expect(refused.message).toContain(`\`${name}\``);
    }
    expect(harness.sim.received()).toBe(0);
    expect(harness.running.books.ledger.openHolds).toBe(0);
  });

  test('values that ask for nothing are accepted, and those of other gateways’ fields are not sent to the host', async () => {
    for (const [name, { harmless }] of fields) {
      for (const value of [null, ...harmless]) {
        const given = JSON.parse(JSON.stringify(value).replaceAll('@model', String(body.model))) as unknown;
        const response = await ask({ [name]: given });
        const fault = response.ok ? '' : await response.text();
        expect([name, given, response.status, fault]).toEqual([name, given, 200, '']);
      }
    }
    const sent = harness.sim.calls.map((call) => JSON.parse(call.body) as Record<string, unknown>);
    for (const name of ['provider', 'models', 'route', 'fallbacks', 'transforms', 'plugins', 'preset', 'guardrails']) {
      expect(sent.filter((request) => request[name] !== undefined)).toEqual([]);
    }
  });

  test.each(SUFFIXES)('the suffix %s is refused', async (suffix) => {
    for (const model of [body.model, `vendor/${body.model}`, 'unknown'])
      expect(await refusal(await ask({ model: `${model}${suffix}` }))).toMatchObject({ ...REFUSED, param: 'model' });
    expect(harness.sim.received()).toBe(0);
  });

  test('a background call is refused with its equivalent, a deferred job', async () => {
    expect((await refusal(await ask({ background: true }))).message).toContain('a deferred job to POST /v1/jobs');
  });

  test.each(Object.entries(HEADERS))('the header %s is refused unless it is false', async (name, [value, remedy]) => {
    const refused = await refusal(await ask({}, { [name]: value }));
    expect(refused).toMatchObject({ ...REFUSED, param: name, message: expect.stringContaining(remedy) });
    expect(harness.sim.received()).toBe(0);
    expect((await ask({}, { [name]: 'false' })).status).toBe(200);
  });

  test.each(['x-gateway-max-cost', 'x-gateway-max-cost-usd', 'x-gateway-max-cost-nanosud'])(
    'a ceiling called %s is refused, because it would limit nothing',
    async (name) => {
      const refused = await refusal(await ask({}, { [name]: '1' }));
      expect(refused).toMatchObject({ status: 400, code: 'invalid_header', param: name });
      expect(refused.message).toContain('Send `x-gateway-max-cost-nanousd`');
      expect(harness.sim.received()).toBe(0);
    },
  );

  test('a name that differs only in case from one that decides is refused', async () => {
    for (const name of ['Model', 'Max_Tokens', 'PROVIDER']) {
      const refused = await refusal(await ask({ [name]: 'x' }));
      expect(refused).toMatchObject({ status: 400, code: 'duplicate_key', param: name });
    }
    expect(harness.sim.received()).toBe(0);
  });

  test('headers that tell an aggregator who is calling, and its `usage`, are accepted and not sent on', async () => {
    const response = await ask(
      { usage: { include: true } },
      { 'http-referer': 'https://app.example', 'x-title': 'App' },
    );
    expect([response.status, response.ok ? '' : await response.text()]).toEqual([200, '']);
    const [call] = harness.sim.calls;
    expect([call?.headers['http-referer'], call?.headers['x-title']]).toEqual([undefined, undefined]);
    expect(JSON.parse(call!.body)).not.toHaveProperty('usage');
  });
});

const USER = { role: 'user', content: 'x' };
const CLAUDE = { model: 'sim-claude', max_tokens: 5 };

/** What is inside messages, items and tools. */
test.each<[string, string, object, string]>([
  [
    'a server-side tool',
    '/v1/chat/completions',
    { model: 'sim-gpt', messages: [USER], tools: [{ type: 'web_search_preview' }] },
    'tools[0].type',
  ],
  [
    'a server-side tool',
    '/v1/messages',
    { ...CLAUDE, messages: [USER], tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    'tools[0].type',
  ],
  [
    'a server-side tool',
    '/v1/responses',
    { model: 'sim-responses', input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['v'] }] },
    'tools[0].type',
  ],
  [
    'a stored item',
    '/v1/responses',
    { model: 'sim-responses', input: [{ type: 'item_reference', id: 'i' }] },
    'input[0].type',
  ],
  [
    'audio',
    '/v1/chat/completions',
    { model: 'sim-gpt', messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    'messages[0].content[0].type',
  ],
  [
    'a file by its id',
    '/v1/chat/completions',
    { model: 'sim-gpt', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    'messages[0].content[0].file.file_id',
  ],
  [
    'a file by its address',
    '/v1/responses',
    { model: 'sim-responses', input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://x' }] }] },
    'input[0].content[0].file_url',
  ],
  [
    'a document by its id',
    '/v1/messages',
    {
      ...CLAUDE,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }],
    },
    'messages[0].content[0].source',
  ],
])('%s on %s is refused by its place', async (_what, path, body, param) => {
  expect(await refusal(await harness.post(body, {}, path))).toMatchObject({ ...REFUSED, param });
  expect(harness.sim.received()).toBe(0);
});

describe.each(PREFIXES)('under the prefix "%s"', (prefix) => {
  const routes = namesUnder('route').filter((name) => name.startsWith('/'));

  test.each(routes)('%s is refused by name, whatever the method', async (path) => {
    const places = path.endsWith('/') ? [`${path}some/thing`] : [path, `${path}/some/thing`];
    for (const place of places) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
        const refused = await refusal(await fetch(harness.url + prefix + place, { method, ...body }));
        expect([place, method, refused.status, refused.code]).toEqual([place, method, 404, 'unsupported_route']);
        expect(refused.message).toContain(`${prefix}${place} is not offered. `);
      }
    }
    expect(harness.sim.received()).toBe(0);
  });
});

test.each([
  ['x-portkey-config', 'unsupported_feature'],
  ['x-gateway-max-cost', 'invalid_header'],
])('a job with the header %s is refused by the name of the header', async (name, code) => {
  const [, { path, body }] = ROUTES[0]!;
  const response = await harness.post({ endpoint: path, body }, { [name]: '1' }, '/v1/jobs');
  expect(await refusal(response)).toMatchObject({ status: 400, code, param: name });
});
