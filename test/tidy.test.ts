import { afterAll, describe, expect, test } from 'vitest';
import { HOST_ROWS } from '../src/hosts/rows.ts';
import { LIMITS } from '../src/limits.ts';
import { BANS } from './tidy/banned.ts';
import { ALL, lineAt, linesOf, PRODUCT, readText, type SourceFile } from './tidy/source-files.ts';
import './tidy/export-suite.ts';
import './tidy/layer-suite.ts';
import './tidy/package-suite.ts';
import './tidy/phrase-suite.ts';
import { functionsOf, stringsOf, testsIn } from './tidy/syntax.ts';

/**
 * Style is a test: each message says the remedy. An exception that is no longer needed is a failure too, so that lists
 * of exceptions only shrink. The suites on exports, layers, packages and English are imported above; `tidy/rules.test.ts` tests the rules.
 */

afterAll(() => {
  for (const file of ALL) file.forget();
});

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 400;

/** Files that are longer for now; take one out when it is short enough, never put one in. */
const LONG_FILES: readonly string[] = [];
/** Functions that are longer for now, as the failure names them: `path:line has N lines`. */
const LONG_FUNCTIONS: readonly string[] = [];

function longFunctionsIn(file: SourceFile): string[] {
  const long = functionsOf(file).filter(({ lines }) => lines > FUNCTION_LINES_MAX);
  if (long.length === 0) return [];
  const tests = testsIn(file);
  const steps = long.filter(({ start, end }) => !tests.some((at) => at >= start && at < end));
  return steps.map(({ start, lines }) => `${file.path}:${lineAt(file, start)} has ${lines} lines`);
}

describe('size', () => {
  test(`no file has more than ${FILE_LINES_MAX} lines`, () => {
    const long = ALL.filter(({ text }) => linesOf(text) > FILE_LINES_MAX).map(({ path }) => path);
    expect(long, 'Split the file by what its parts are about.').toEqual(LONG_FILES);
  });

  test(`no function has more than ${FUNCTION_LINES_MAX} lines`, () => {
    const longEnough = ALL.filter(({ text }) => linesOf(text) > FUNCTION_LINES_MAX);
    const long = longEnough.flatMap((file) => {
      const found = longFunctionsIn(file);
      // No later rule reads the trees of other files.
      if (!PRODUCT.includes(file)) file.forget();
      return found;
    });
    expect(long, 'Give the steps of the function names of their own.').toEqual(LONG_FUNCTIONS);
  });
});

describe('what may be in one place only', () => {
  for (const { what, homes, instead, find } of BANS) {
    test(`${what}: ${homes.join(', ') || 'nowhere'}`, () => {
      const found = PRODUCT.map((file) => ({ path: file.path, lines: find(file) })).filter(
        ({ lines }) => lines.length > 0,
      );
      const strays = found.filter(({ path }) => !homes.includes(path));
      expect(
        strays.map(({ path, lines }) => `${path}:${lines[0]}`),
        `Use ${instead}.`,
      ).toEqual([]);
      const unneeded = homes.filter((home) => !found.some(({ path }) => path === home));
      expect(unneeded, 'Take this file off the list of homes.').toEqual([]);
    });
  }
});

/** A provider's name decides nothing in shared code: it occurs only in its row, in a quirk, or in data. */
const PROVIDERS =
  /openai|anthropic|google|typesafe|^together$|groq|mistral|deepseek|perplexity|gemini|openrouter|cohere|voyage|cerebras|fireworks|azure|\bxai\b|ollama|vllm|llama_?cpp|lm_?studio/im;
const PROVIDER_HOMES: readonly string[] = [
  'src/hosts/rows.ts',
  // How the path of a provider's resources ends.
  'src/custody/providers.ts',
  'src/wires/chat/quirks.ts',
  // The messages wire is one vendor's: its headers and the tag of its signatures.
  'src/wires/messages/vendor-headers.ts',
  // The vendor's own version header, which tells its clients apart at a shared path.
  'src/http/plain-routes.ts',
  // Paths that a provider's SDK builds by itself.
  'src/http/path-aliases.ts',
  'src/sim/wires/messages/headers.ts',
  // The decisions wire is one vendor's too.
  'src/sim/models.ts',
  'src/sim/wires/decisions/systemone.ts',
  // Clients name their settings after the vendor whose API they expect.
  ...['aider', 'claude', 'cline', 'continue', 'llm', 'opencode', 'qwen'].map(
    (name) => `src/cli/setup/clients/${name}.ts`,
  ),
];

describe('names', () => {
  test('every host row is a provider that the next test would find', () => {
    expect(
      HOST_ROWS.filter(({ name, simulated }) => !simulated && !PROVIDERS.test(name)).map(({ name }) => name),
    ).toEqual([]);
  });

  test("no provider's name is written in shared code", () => {
    const found = PRODUCT.map(({ path }, at) => ({ path, name: providerIn(stringsOf(PRODUCT[at]!)) })).filter(
      ({ name }) => name !== null,
    );
    const strays = found.filter(({ path }) => !PROVIDER_HOMES.includes(path));
    expect(
      strays.map(({ path, name }) => `${path}: ${name}`),
      'Make it a member of the host row, or a quirk of the wire.',
    ).toEqual([]);
    const unneeded = PROVIDER_HOMES.filter((home) => !found.some(({ path }) => path === home));
    expect(unneeded, 'Take this file off the list of homes.').toEqual([]);
  });

  test('no file has a name that says nothing', () => {
    const vague = ALL.filter(({ path }) => /(^|[/-])(utils?|helpers?|common|misc)([/.-]|$)/.test(path));
    expect(
      vague.map(({ path }) => path),
      'Name the file after what it is about.',
    ).toEqual([]);
  });

  test('every limit is used', () => {
    const texts = ALL.filter(({ path }) => path !== 'src/limits.ts').map(({ text }) => text);
    const used = new Set(texts.flatMap((text) => [...text.matchAll(/LIMITS\.(\w+)/g)].map(([, name]) => name)));
    const unused = Object.keys(LIMITS).filter((name) => !used.has(name));
    expect(unused, 'Delete the limit, or hold it.').toEqual([]);
  });
});

function providerIn(strings: readonly string[]): string | null {
  return PROVIDERS.exec(strings.join('\n'))?.[0] ?? null;
}

describe('the repository', () => {
  test('the lock file says what to install, not from where', () => {
    // Workspaces are links to folders of this repository.
    const { packages } = JSON.parse(readText('package-lock.json')) as {
      packages: Record<string, { resolved?: string; link?: boolean }>;
    };
    const fetched = Object.entries(packages).filter(
      ([, { resolved, link }]) => resolved !== undefined && link !== true,
    );
    expect(fetched.map(([name]) => name)).toEqual([]);
  });

  test('dependencies are pinned to one version', () => {
    const loose = ['package.json', 'console/package.json'].flatMap((file) => {
      const { dependencies, devDependencies } = JSON.parse(readText(file));
      return Object.entries({ ...dependencies, ...devDependencies }).filter(([, at]) => !/^\d/.test(String(at)));
    });
    expect(loose, 'Write the exact version.').toEqual([]);
  });

  test('every package that an installation gets is imported, or needed by another one', () => {
    const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
    const { packages } = JSON.parse(readText('package-lock.json')) as {
      packages: Record<string, { peerDependencies?: Record<string, string> }>;
    };
    const direct = Object.keys(dependencies);
    const peers = direct.flatMap((name) => Object.keys(packages[`node_modules/${name}`]?.peerDependencies ?? {}));
    // It runs a clone, and is not in the package.
    const needed = new Set([...peers, 'node']);
    const isImported = (name: string): boolean => PRODUCT.some(({ text }) => text.includes(`'${name}`));
    const unused = direct.filter((name) => !needed.has(name) && !isImported(name));
    expect(unused, 'Remove the dependency.').toEqual([]);
  });
});
