import { LIMITS } from '../../src/limits.ts';
import type { Random } from '../random.ts';
import { type BadClass, type BadRequest, respelt } from './bad-class.ts';
import { type Body, goodBody } from './good-body.ts';

/** A body that two parsers could read differently, or that no parser should have to read. */
function brokenText(
  name: string,
  make: (random: Random) => Pick<BadRequest, 'param' | 'body'>,
  options: { readonly code?: string; readonly times?: number } = {},
): BadClass {
  const { code = 'invalid_request_body', ...times } = options;
  return { name, code, status: 400, oneField: false, ...times, make };
}

const MARK = '@again@';

/** Repeats a member of some object of the body, at any depth, with another spelling of its name. */
function withDuplicate(random: Random): Pick<BadRequest, 'param' | 'body'> {
  const body = { ...goodBody(random), metadata: { a: { b: [{ c: 1 }] }, 'k y': 1 } };
  const { object, path } = random.pick(objectsIn(body));
  const key = random.pick(Object.keys(object));
  object[MARK] = random.pick<unknown>([object[key], null, 'another', 0]);
  const text = JSON.stringify(body).replace(`"${MARK}"`, `"${respelt(key, random)}"`);
  return { param: path + step(key, path === ''), body: text };
}

interface Place {
  readonly object: Body;
  readonly path: string;
}

function objectsIn(value: unknown, path = ''): Place[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => objectsIn(item, `${path}[${at}]`));
  if (typeof value !== 'object' || value === null) return [];
  const object = value as Body;
  const inner = Object.entries(object).flatMap(([key, item]) => objectsIn(item, path + step(key, path === '')));
  return Object.keys(object).length === 0 ? inner : [{ object, path }, ...inner];
}

function step(key: string, isFirst: boolean): string {
  if (!/^[\w$-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
  return isFirst ? key : `.${key}`;
}

const NOT_UTF8 = [
  'ff',
  'fe',
  'c0af',
  'c080',
  'e080af',
  'eda080',
  'edbfbf',
  'f4908080',
  'f8888080',
  '80',
  'e28281'.slice(0, 4),
];

function notUtf8(random: Random): Buffer {
  const good = Buffer.from(JSON.stringify({ ...goodBody(random), user: 'someone' }));
  const at = good.indexOf('someone') + random.below(7);
  return Buffer.concat([good.subarray(0, at), Buffer.from(random.pick(NOT_UTF8), 'hex'), good.subarray(at)]);
}

/** An object that is cut off is not valid JSON; the error names the place if a member had begun. */
function truncated(random: Random): Pick<BadRequest, 'param' | 'body'> {
  const body = goodBody(random);
  const bytes = Buffer.from(JSON.stringify(body));
  let end = random.below(bytes.length);
  // Not inside a character, which is a different fault.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return { param: (param) => param === null || leadsInto(body, param), body: bytes.subarray(0, end) };
}

/** Whether the path, in its usual notation, leads to an existing value. */
function leadsInto(body: unknown, path: string): boolean {
  let value: unknown = body;
  for (const [, name, index, quoted] of path.matchAll(/\.?([\w$-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)) {
    const key = name ?? index ?? (JSON.parse(quoted!) as string);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Body)[key];
  }
  return path !== '';
}

function nested(random: Random): Pick<BadRequest, 'param' | 'body'> {
  const depth = random.pick([LIMITS.jsonDepthMax, LIMITS.jsonDepthMax + 1, 1000, 50_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ] as const);
  const bomb = open.repeat(depth) + (random.chance(0.5) ? `1${close.repeat(depth)}` : '');
  const inside = (param: string | null) => param !== null && /^bomb(\.a|\[0\])+…?$/.test(param);
  return { param: inside, body: withRaw(goodBody(random), 'bomb', bomb) };
}

/** The body with one more member, first or last, written unchanged. */
function withRaw(body: Body, key: string, json: string): string {
  return `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(key)}:${json}}`;
}

function hugeNumber(random: Random): Pick<BadRequest, 'param' | 'body'> {
  const digits = '7'.repeat(random.between(LIMITS.jsonNumberDigitsMax + 1, 5000));
  const number = random.pick([digits, `-${digits}`, `0.${digits}`, `1e${digits}`, `${digits}.5e-3`]);
  const field = random.pick(['max_tokens', 'temperature', 'seed', 'an_unknown_number']);
  const { [field]: _, ...body } = goodBody(random);
  return { param: field, body: withRaw(body, field, number) };
}

const GIANT_KEYS = [LIMITS.jsonKeyBytesMax + 1, 16_384, 100_000];

/** The key itself is too long to be named, so the error names a place near it. */
function giantKey(random: Random): Pick<BadRequest, 'param' | 'body'> {
  const key = random.pick(['k', 'é', '\\']).repeat(random.pick(GIANT_KEYS));
  const body = goodBody(random);
  return random.chance(0.5)
    ? { param: (param) => param === null || leadsInto(body, param), body: withRaw(body, key, '1') }
    : { param: 'metadata', body: JSON.stringify({ ...body, metadata: { [key]: 1 } }) };
}

const NO_JSON = [
  '',
  ' ',
  'hello',
  '{',
  '}',
  '{]',
  '{"model"}',
  '{"model":}',
  "{'model':'sim-gpt'}",
  '{"model":"sim-gpt",}',
  '{"model":"sim-gpt"} {}',
  '{"model":undefined}',
  '{"model":NaN}',
  '{"n":01}',
  '{"n":+1}',
  '{"n":.5}',
  '{"n":1.}',
  '{"n":0x10}',
  '{"model":"a\nb"}',
  '{"model":"\\x41"}',
  '{"model":"\\u12"}',
  '{// comment\n"model":"sim-gpt"}',
  '\u00a0{}',
  '{"model":tru}',
  '<model>sim-gpt</model>',
  'model=sim-gpt&messages=hello',
];

const NO_OBJECTS = ['[]', '"hello"', '7', 'true', 'null', '[{"model":"sim-gpt","messages":[]}]'];

export const BROKEN_TEXTS: readonly BadClass[] = [
  brokenText('a key twice, at any depth, in any spelling', withDuplicate, { code: 'duplicate_key' }),
  brokenText('text that is not UTF-8', (random) => ({ param: null, body: notUtf8(random) })),
  brokenText('text in another encoding', (random) => ({
    param: null,
    body: Buffer.from(`\ufeff${JSON.stringify(goodBody(random))}`, 'utf16le'),
  })),
  brokenText('a byte order mark', (random) => ({ param: null, body: `\ufeff${JSON.stringify(goodBody(random))}` })),
  brokenText('text that breaks off', truncated),
  brokenText('nesting without end', nested),
  brokenText('a number without end', hugeNumber),
  brokenText('a key without end', giantKey),
  brokenText('no JSON', (random) => ({ param: (param) => param !== '', body: random.pick(NO_JSON) })),
  brokenText('JSON that is not an object', (random) => ({ param: null, body: random.pick(NO_OBJECTS) })),
  brokenText(
    'more values than anyone has',
    () => ({
      param: (param) => param?.startsWith('many[') === true,
      body: withRaw({}, 'many', tooMany()).replace(',', ''),
    }),
    { times: 3 },
  ),
  brokenText(
    'more keys than anyone has',
    (random) => ({
      param: (param) => param?.startsWith('many') === true,
      body: withRaw({}, 'many', tooManyKeys(random)).replace(',', ''),
    }),
    { times: 6 },
  ),
];

/** In one object, or in many. */
function tooManyKeys(random: Random): string {
  const each = random.pick([LIMITS.jsonKeysMax, 10, 1]);
  const object = `{${Array.from({ length: each }, (_, at) => `"k${at}":0`).join()}}`;
  return `[${Array.from({ length: LIMITS.jsonKeysMax / each }, () => object).join()}]`;
}

function tooMany(): string {
  return `[${'0,'.repeat(LIMITS.jsonNodesMax)}0]`;
}
