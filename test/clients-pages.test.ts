import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { AGENTS } from '../campaigns/clients/agents.ts';
import { SETUP_CLIENTS } from '../src/cli/setup/clients/index.ts';
import { CliFixture } from './cli-fixture.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'docs', 'clients');
const INDEX = readFileSync(join(FOLDER, 'README.md'), 'utf8');
const cli = new CliFixture();
const home = join(cli.folder, 'home');

afterAll(() => cli.remove());

const pageOf = (name: string): string => readFileSync(join(FOLDER, `${name}.md`), 'utf8');

test('every client of tollgate setup is run by npm run clients, and the other way round', () => {
  expect(AGENTS.map(({ name }) => name)).toEqual(SETUP_CLIENTS.map(({ name }) => name));
});

test('every page about a client can be found from the index', () => {
  const pages = readdirSync(FOLDER).filter((name) => name !== 'README.md');
  expect(pages.filter((page) => !INDEX.includes(`(${page})`))).toEqual([]);
});

describe.each(AGENTS)('the page of $name', ({ name, model = 'sim-gpt-mini', version, package: packageName, from }) => {
  test('shows the settings that tollgate setup writes, and where', async () => {
    const args = ['setup', name, '--model', model, '--json'];
    const { out } = await cli.run(args, { HOME: home });
    const { file } = JSON.parse(out) as { file: string };
    const blocks = [...pageOf(name).matchAll(/^```(?:toml|json|yaml)\b.*\n([\s\S]*?)^```/gm)].map(([, text]) => text);
    expect(blocks).toEqual([readFileSync(file, 'utf8')]);
    expect(pageOf(name)).toContain(`~/${file.slice(home.length + 1)}`);
    expect(pageOf(name)).toContain(`tollgate setup ${name} --model ${model}\n`);
  });

  test('names the version that npm run clients runs, as the index does', () => {
    expect(pageOf(name)).toContain(`Tested with version ${version},`);
    expect(pageOf(name)).toContain(`${from === 'npm' ? 'npm install --global' : 'pip install'} ${packageName}\n`);
    expect(INDEX).toMatch(
      new RegExp(`\\(${name}\\.md\\) \\| ${version.replaceAll('.', '\\.')} \\|.*\`tollgate setup ${name}\``),
    );
  });

  test('names the key as the settings do when they name a variable', async () => {
    const args = ['setup', name, '--model', model, '--key-env', 'TOLLGATE_API_KEY', '--json'];
    const { out } = await cli.run(args, { HOME: join(cli.folder, `keyed-${name}`) });
    const { changes } = JSON.parse(out) as { changes: string[] };
    const naming = changes
      .map((line) => line.slice(2).trim().replace(/,$/, ''))
      .filter((line) => line.includes('TOLLGATE_API_KEY'));
    for (const line of naming) expect(pageOf(name)).toContain(`\`${line}\``);
    expect(pageOf(name)).toContain('TOLLGATE_API_KEY');
  });
});

const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};
const SDK_PAGES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai'],
  anthropic: ['@anthropic-ai/sdk'],
  'ai-sdk': ['ai', '@ai-sdk/openai', '@ai-sdk/openai-compatible', '@ai-sdk/anthropic', '@ai-sdk/azure'],
  langchain: ['@langchain/openai', '@langchain/anthropic'],
  openrouter: ['@openrouter/sdk', '@openrouter/ai-sdk-provider'],
  typesafe: ['@typesafe-ai/sdk'],
  // Its versions are those of campaigns/clients/python-packages.ts.
  python: [],
  // Our own.
  typescript: [],
  // Tried by hand.
  others: [],
};

test.each(Object.entries(SDK_PAGES))('the page %s names the versions that the suite runs', (page, packages) => {
  for (const name of packages) expect(pageOf(page), name).toContain(devDependencies[name]!);
});

test('every page is of an agent or of an SDK', () => {
  const known = [...AGENTS.map(({ name }) => name), ...Object.keys(SDK_PAGES), 'README'];
  expect(readdirSync(FOLDER).toSorted()).toEqual(known.map((name) => `${name}.md`).toSorted());
});
