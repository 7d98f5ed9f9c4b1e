import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../src/limits.ts';

/** Style is a test: each message says the remedy, and each list of exceptions may only shrink. */

const ROOT = resolve(import.meta.dirname, '..');
const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 400;

/** Files that are longer for now; take one out when it is short enough, never put one in. */
const LONG_FILES: readonly string[] = [];
const LONG_FUNCTIONS: readonly string[] = [];

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** The text with comments and the contents of strings blanked, so that a word in prose is no call. */
  readonly code: string;
}

function filesUnder(folder: string): SourceFile[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readSource(relative(ROOT, join(entry.parentPath, entry.name))))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, lines: text.split('\n'), code: withoutProse(text) };
}

function withoutProse(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''");
}

const SOURCES = filesUnder('src');
const PRODUCT = SOURCES.filter(({ path }) => !path.endsWith('.test.ts'));
const ALL = [...SOURCES, ...['test', 'bench', 'campaigns', 'scripts'].flatMap(filesUnder)];

/** Who may import whom; `limits` is open to all. A wire is a layer of its own, so no wire sees another. */
const BELOW_MONEY = ['canonical', 'json', 'kit'];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kit: [],
  json: ['kit'],
  http1: ['kit'],
  canonical: ['json', 'kit'],
  money: BELOW_MONEY,
  wires: BELOW_MONEY,
  catalog: ['money', ...BELOW_MONEY],
  egress: ['http1', 'money', ...BELOW_MONEY],
  store: ['money', ...BELOW_MONEY],
  'store-driver': ['store', 'money', ...BELOW_MONEY],
  hosts: ['catalog', 'egress', 'store', 'money', ...BELOW_MONEY],
  ledger: ['catalog', 'egress', 'store', 'money', ...BELOW_MONEY],
  accounts: ['catalog', 'egress', 'store', 'money', ...BELOW_MONEY],
  custody: ['catalog', 'egress', 'store', 'money', ...BELOW_MONEY],
  gateway: ['hosts', 'ledger', 'accounts', 'custody', 'catalog', 'wires', 'http1', 'store', 'money', ...BELOW_MONEY],
  jobs: ['gateway', 'hosts', 'ledger', 'accounts', 'custody', 'catalog', 'wires', 'money', ...BELOW_MONEY],
  operator: ['hosts', 'ledger', 'accounts', 'custody', 'catalog', 'store', 'money', ...BELOW_MONEY],
  http: [
    'operator',
    'jobs',
    'gateway',
    'ledger',
    'accounts',
    'custody',
    'catalog',
    'canonical',
    'http1',
    'json',
    'kit',
  ],
  cli: [
    'operator',
    'jobs',
    'gateway',
    'ledger',
    'accounts',
    'custody',
    'catalog',
    'canonical',
    'json',
    'kit',
    'money',
    'config',
  ],
  config: ['hosts', 'custody', 'catalog', 'json', 'kit'],
  sim: ['json', 'kit'],
};

/** `main` and its folder build everything, so they may import everything. */
function layerOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  if (first === 'limits.ts') return 'limits';
  // Drivers are main's to pick; everyone else sees the store's interface.
  if (first === 'store' && ['sqlite', 'postgres', 'memory', 'rules', 'migrations'].includes(second))
    return 'store-driver';
  const isShared = second.endsWith('.ts') || ['frames', 'fields', 'usage', 'errors'].includes(second);
  return first === 'wires' && second !== '' && !isShared ? `wires/${second}` : first;
}

function importsOf({ path, text }: SourceFile): string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return [...found].map(([, target]) => relative(ROOT, resolve(ROOT, dirname(path), target!)));
}

function mayImport(from: string, to: string): boolean {
  if (from === 'main' || to === from || to === 'limits') return true;
  if (from === 'wires') return to.startsWith('wires/') || MAY_IMPORT.wires!.includes(to);
  if (from.startsWith('wires/')) return to === 'wires' || MAY_IMPORT.wires!.includes(to);
  return (MAY_IMPORT[from] ?? []).includes(to.startsWith('wires/') ? 'wires' : to);
}

/** Calls that belong into one place, and what to use instead. */
const BANNED: readonly { readonly what: RegExp; readonly home: readonly string[]; readonly instead: string }[] = [
  { what: /\bJSON\.parse\b/, home: ['src/json/json.ts'], instead: 'parseJson or tryParseJson of kit/json.ts' },
  { what: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/, home: ['src/kit/clock.ts'], instead: 'a Clock' },
  { what: /\bset(Timeout|Interval)\b/, home: ['src/kit/clock.ts'], instead: "a Clock's after()" },
  { what: /\bprocess\.env\b/, home: ['src/config/config.ts'], instead: 'the Config' },
  { what: /\bnew Worker\(/, home: ['src/kit/start-thread.ts'], instead: 'startThread, for what V8 does to others' },
  { what: /\bconsole\./, home: [], instead: 'the log, or the output the CLI is given' },
  { what: /[:<(,]\s*any\b|\bas any\b/, home: [], instead: 'unknown, and a check' },
  { what: /@ts-(ignore|expect-error)|biome-ignore/, home: [], instead: 'types that hold' },
  { what: /\bfetch\(|\bReadableStream\b/, home: [], instead: 'Egress: web streams cost five times the CPU' },
  {
    what: /\bledger\.(hold|settle|release)\(/,
    home: ['src/gateway/exchange.ts'],
    instead: 'the exchange, which owns every hold',
  },
];

/** A provider's name decides nothing in shared code: it stands in its row, in a manner, in data. */
const PROVIDERS =
  /openai|anthropic|groq|mistral|deepseek|perplexity|gemini|openrouter|cohere|voyage|cerebras|fireworks|azure|\bxai\b|ollama|vllm|llama_?cpp|lm_?studio/i;
const PROVIDER_HOMES: readonly string[] = [
  'src/hosts/rows.ts',
  // How the path of a provider's resources ends.
  'src/custody/providers.ts',
  'src/wires/chat/quirks.ts',
  // The messages wire is one vendor's: its headers and the tag of its signatures.
  'src/wires/messages/vendor.ts',
  // The vendor's own version header, by which its clients are told apart at a shared path.
  'src/http/plain-routes.ts',
  'src/sim/wires/messages/headers.ts',
];

describe('layers', () => {
  test('every import goes the way of the table', () => {
    const wrong = PRODUCT.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/') && !mayImport(layerOf(file.path), layerOf(target)))
        .map((target) => `${file.path} imports ${target}: ${layerOf(file.path)} may not see ${layerOf(target)}`),
    );
    expect(wrong, 'Move the code down, or hand the thing in from main.').toEqual([]);
  });

  test('every source file is reached from an entry', () => {
    const entries = ['src/main/main.ts', 'src/sim/main.ts'];
    const workers = PRODUCT.filter(({ path }) => /(worker|writer|scanner)\.ts$/.test(path)).map(({ path }) => path);
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      const file = PRODUCT.find((one) => one.path === path);
      if (file !== undefined) importsOf(file).forEach(visit);
    };
    [...entries, ...workers].forEach(visit);
    const testOnly = ['src/store/memory/memory-store.ts'];
    const dead = PRODUCT.map(({ path }) => path).filter((path) => !reached.has(path) && !testOnly.includes(path));
    expect(dead, 'Nothing uses these files: delete them.').toEqual([]);
  });
});

describe('size', () => {
  test(`no file has more than ${FILE_LINES_MAX} lines`, () => {
    const long = ALL.filter(({ lines }) => lines.length > FILE_LINES_MAX).map(({ path }) => path);
    expect(long, 'Split the file by what its parts are about.').toEqual(LONG_FILES);
  });

  test(`no function has more than ${FUNCTION_LINES_MAX} lines`, () => {
    const long = PRODUCT.flatMap((file) => longFunctions(file));
    expect(long, 'Give the steps of the function names of their own.').toEqual(LONG_FUNCTIONS);
  });
});

const FUNCTION_HEAD =
  /^(\s*)(?:export |default |async |static |override |get |set )*(?:function\b.*|[#\w]+(?:<.*>)?\(.*|const \w+ = (?:async )?\(.*)$/;
const NO_FUNCTION = /^\s*(if|for|while|switch|return|describe|test|it|super|throw|await|new)\b/;

/** The formatter's indentation tells where a function ends: at the first line that closes at its own depth. */
function longFunctions({ path, lines }: SourceFile): string[] {
  return lines.flatMap((line, start) => {
    const indent = FUNCTION_HEAD.exec(line)?.[1];
    // A call that ends on its own line only looks like a head.
    if (indent === undefined || NO_FUNCTION.test(line) || line.endsWith(';')) return [];
    const headEnd = line.endsWith('{')
      ? start
      : lines.findIndex((later, at) => at > start && later.startsWith(`${indent})`));
    if (headEnd === -1 || !lines[headEnd]!.endsWith('{')) return [];
    const end = lines.findIndex((later, at) => at > headEnd && later.startsWith(`${indent}}`));
    return end - start + 1 > FUNCTION_LINES_MAX ? [`${path}:${start + 1}`] : [];
  });
}

describe('words', () => {
  for (const { what, home, instead } of BANNED) {
    test(`${what.source} stands nowhere but in ${home.join(', ') || 'no file'}`, () => {
      const found = PRODUCT.filter(({ path, code }) => !home.includes(path) && what.test(code)).map(({ path }) => path);
      expect(found, `Use ${instead}.`).toEqual([]);
    });
  }

  test("no provider's name is written in shared code", () => {
    const found = PRODUCT.filter(({ path, text }) => !PROVIDER_HOMES.includes(path) && PROVIDERS.test(strings(text)));
    const places = found.map(({ path, text }) => `${path}: ${PROVIDERS.exec(strings(text))?.[0]}`);
    expect(places, 'Make it a member of the host row, or a manner of the wire.').toEqual([]);
  });

  test('no file or function is named after nothing', () => {
    const vague = ALL.filter(({ path }) => /(^|[/-])(utils?|helpers?|common|misc)([/.-]|$)/.test(path));
    expect(
      vague.map(({ path }) => path),
      'Name the file after what it is about.',
    ).toEqual([]);
  });

  test('every limit is used, and limits stand in limits.ts', () => {
    const used = ALL.filter(({ path }) => path !== 'src/limits.ts')
      .map(({ text }) => text)
      .join('\n');
    const unused = Object.keys(LIMITS).filter((name) => !used.includes(`LIMITS.${name}`));
    expect(unused, 'Delete the limit, or hold it.').toEqual([]);
  });
});

/** The contents of single-quoted and template strings. */
function strings(text: string): string {
  const withoutComments = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
  const withoutImports = withoutComments.replace(/^(import|export) .*from '.*';$/gm, '');
  return (withoutImports.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []).join('\n');
}

describe('the repository', () => {
  test('the lock file says what to install, not from where', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
  });

  test('dependencies are pinned to one version', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(([, at]) => !/^\d/.test(String(at)));
    expect(loose, 'Write the exact version.').toEqual([]);
  });
});
