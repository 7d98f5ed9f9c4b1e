import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { typeErrorsOf } from './client-build.ts';
import { blocksToRun, PAGES_WITH_CODE } from './doc-blocks.ts';
import { type Harness, startHarness } from './harness.ts';

/** Runs the TypeScript and JavaScript of the pages. The blocks of a page are one program, from top to bottom. */

const PAGES = PAGES_WITH_CODE.filter((page) => blocksToRun(page, 'ts', 'js').length > 0);
const folder = mkdtempSync(join(tmpdir(), 'tollgate-code-'));
let harness: Harness;
let key: string;

beforeAll(async () => {
  symlinkSync(resolve(import.meta.dirname, '..', 'node_modules'), join(folder, 'node_modules'));
  harness = await startHarness({ hosted: true });
  key = (await harness.mint({})).secret;
  process.env.TOLLGATE_API_KEY = key;
});
afterAll(async () => {
  delete process.env.TOLLGATE_API_KEY;
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Texts of the pages, and what the test uses instead. Models of vendors become simulated ones. */
function asHere(code: string): string {
  const replaced: readonly (readonly [string, string])[] = [
    ['http://127.0.0.1:8080', harness.url],
    ['tg_live_…', key],
    ['claude-sonnet-4-5', 'sim-claude'],
    ['gpt-5-mini', 'sim-gpt-mini'],
    ["model: 'llama'", "model: 'sim-gpt'"],
  ];
  return replaced.reduce((text, [said, meant]) => text.replaceAll(said, meant), code);
}

async function receipts(): Promise<number> {
  const response = await harness.get('/v1/receipts?limit=1000', { authorization: `Bearer ${key}` });
  return ((await response.json()) as { data: unknown[] }).data.length;
}

/** As people have them who begin a project with strict checks. */
const CHECKS = {
  ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: ['node'] },
  ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'] },
};

test('the TypeScript of the pages compiles in a project with strict checks', () => {
  const packages = resolve(import.meta.dirname, '..', 'packages');
  const paths = {
    '@tollgate/client': [join(packages, 'client/src/index.ts')],
    '@tollgate/client/verify': [join(packages, 'client/src/verify.ts')],
    '@tollgate/client/webhooks': [join(packages, 'client/src/webhooks.ts')],
    '@tollgate/ai-sdk': [join(packages, 'ai-sdk/src/index.ts')],
  };
  const project = join(folder, 'strict');
  mkdirSync(project);
  const files = PAGES.map((page) => `${page.replaceAll(/\W/g, '-')}.ts`);
  for (const [at, page] of PAGES.entries())
    writeFileSync(
      join(project, files[at]!),
      blocksToRun(page, 'ts')
        .map(({ text }) => text)
        .join('\n'),
    );
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...CHECKS, paths }, files }));
  expect(typeErrorsOf(project)).toBe('');
});

test.each(PAGES)('the code of %s runs, and makes a call', async (page) => {
  const code = blocksToRun(page, 'ts', 'js').map(({ text }) => text);
  const file = join(folder, `${page.replaceAll(/\W/g, '-')}.ts`);
  writeFileSync(file, asHere(code.join('\n')));
  const before = await receipts();
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await import(file);
  } finally {
    print.mockRestore();
  }
  await harness.settled();
  expect(await receipts()).toBeGreaterThan(before);
});
