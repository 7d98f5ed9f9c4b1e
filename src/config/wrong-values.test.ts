import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { ConfigError, configJsonSchema, loadConfig, SETTINGS } from './config.ts';
import { configFileSchema } from './schema.ts';

/** Every field of the config file and every variable, with values of all wrong kinds. */

const WRONG = [null, true, -1, 0, 1.5, 1e308, '', ' ', 'x', '\u0000', 'https://', [], [null], ['x'], {}, { x: 1 }];

/** Valid entries of lists and maps, so that one wrong field is what is examined. */
const PRICE = { input: 1, output: 1 };
const MODEL = { id: 'm', context_window: 10, price: PRICE };
const ENTRIES: Readonly<Record<string, object>> = {
  'hosts[]': { name: 'own', base_url: 'https://own.example/v1' },
  'models[]': { ...MODEL, hosts: [{ host: 'own', model: 'm' }] },
  'models[].hosts[]': { host: 'own', model: 'm' },
  'models[].price': PRICE,
  'prices{}': PRICE,
  sso: { issuer: 'https://id.example', client_id: 'id', client_secret_file: 'secret' },
};

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
}

interface Place {
  readonly path: string;
  /** The file with this value in this place. */
  fileWith(value: unknown): unknown;
}

function* places(node: Node, { path, fileWith }: Place): Generator<Place> {
  if (path !== '') yield { path, fileWith };
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    const inner = path === '' ? name : `${path}.${name}`;
    yield* places(member, { path: inner, fileWith: (value) => fileWith({ ...ENTRIES[path], [name]: value }) });
  }
  if (node.items !== undefined)
    yield* places(node.items, { path: `${path}[]`, fileWith: (value) => fileWith([value]) });
  if (typeof node.additionalProperties === 'object')
    yield* places(node.additionalProperties, { path: `${path}{}`, fileWith: (value) => fileWith({ own: value }) });
}

/** Null if the value was accepted, or refused as a setting is refused. */
function crashOf(examine: () => unknown): string | null {
  try {
    examine();
    return null;
  } catch (error) {
    return error instanceof ConfigError ? null : String(error);
  }
}

test('no value of a field is anything but accepted, or refused by name', () => {
  const all = [...places(configJsonSchema() as Node, { path: '', fileWith: (value) => value })];
  for (const [path, entry] of Object.entries(ENTRIES)) {
    const { fileWith } = all.find((place) => place.path === path)!;
    expect(configFileSchema.safeParse(fileWith(entry)).error?.issues ?? [], path).toEqual([]);
  }
  const crashes = all.flatMap(({ path, fileWith }) =>
    WRONG.map((value) => [path, value, crashOf(() => configFileSchema.safeParse(fileWith(value)))] as const),
  );
  expect(crashes.filter(([, , error]) => error !== null)).toEqual([]);
  expect(crashes.length).toBeGreaterThan(2_000);
});

test('no value of a variable is anything but accepted, or refused by name', () => {
  const texts = ['x', ' ', '-1', '1.5', '99999999999', '[]', ',', 'https://', 'postgres://', 'é', 'x'.repeat(100_000)];
  const crashes = SETTINGS.flatMap(({ variable }) =>
    texts.map((text) => {
      const env = { HOME: tmpdir(), [variable]: text };
      return [variable, text, crashOf(() => loadConfig({ argvFlags: {}, env, cwd: '/nowhere' }))] as const;
    }),
  );
  expect(crashes.filter(([, , error]) => error !== null)).toEqual([]);
});

test('a Host header to accept is a name or an address; with a port or a scheme it would never match one', () => {
  const problemOf = (name: string): string | null => {
    const env = { HOME: tmpdir(), TOLLGATE_ALLOWED_HOSTS: `gateway.example,${name}` };
    try {
      loadConfig({ argvFlags: {}, env, cwd: '/nowhere' });
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const name of ['localhost', 'Gateway.LAN', '10.0.0.7', '[fd00::7]', 'a_b', 'bücher.example'])
    expect([name, problemOf(name)]).toEqual([name, null]);
  const refused =
    'TOLLGATE_ALLOWED_HOSTS: must be a name without a scheme, a port or a path, like "gateway.example"; an IPv6 address is in brackets';
  for (const name of ['gateway.lan:8080', 'https://gateway.lan', 'gateway.lan/', 'a b', 'fd00::7', '[fd00::7]:80'])
    expect([name, problemOf(name)]).toEqual([name, refused]);
});
