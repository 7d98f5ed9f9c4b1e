import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../src/config/config.ts';
import type { HostRow } from '../src/hosts/host.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';

/** Compares docs/providers.md with the rows of the hosts. */

const PAGE = readFileSync(new URL('../docs/providers.md', import.meta.url), 'utf8');

/** Rows of the page's tables that begin with a host's name, as their cells. */
const CELLS = new Map(
  PAGE.split('\n')
    .filter((line) => /^\| `[a-z]+` \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name = '', ...cells]) => [name.replaceAll('`', ''), cells]),
);

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');
const codeOrNone = (words: readonly string[]): string => (words.length === 0 ? '–' : code(words));
const placeOf = ({ baseUrl, address }: HostRow): string => code(address?.variables ?? [baseUrl]);

const real = HOST_ROWS.filter(({ simulated }) => !simulated);

test('every host has one line, and no line is about another', () => {
  const settings = ['omits', 'adds', 'traces', 'forwards'];
  expect([...CELLS.keys()].filter((name) => !settings.includes(name)).toSorted()).toEqual(
    real.map(({ name }) => name).toSorted(),
  );
});

test.each(real.filter(({ local }) => local === undefined).map((row) => [row.name, row] as const))(
  '%s: its key, its address and its wires',
  (name, row) => {
    expect(CELLS.get(name)?.slice(0, 3)).toEqual([code(row.keyVariables), placeOf(row), row.wires.join(', ')]);
  },
);

test.each(real.filter(({ local }) => local !== undefined).map((row) => [row.name, row] as const))(
  '%s: its variables and its port',
  (name, row) => {
    const port = row.local?.port ?? null;
    expect(CELLS.get(name)?.slice(0, 3)).toEqual([
      placeOf(row),
      port === null ? '–' : String(port),
      codeOrNone(row.keyVariables),
    ]);
  },
);

test('rows name only what they may: one address or the variables for it, https but on one’s own machine', () => {
  for (const { name, baseUrl, address, keyVariables, local } of real) {
    expect([name, baseUrl === '']).toEqual([name, address !== undefined]);
    if (address === undefined) expect(baseUrl).toMatch(/^https:\/\/[^/]+(\/[\w.-]+)*$/);
    if (local === undefined) expect(keyVariables.length, name).toBeGreaterThan(0);
  }
  const variables = real.flatMap(({ keyVariables, address }) => [...keyVariables, ...(address?.variables ?? [])]);
  expect(new Set(variables).size).toBe(variables.length);
});

test.each(
  real.filter(({ local }) => local === undefined).map(({ name, keyVariables }) => [name, keyVariables] as const),
)('%s is switched on by any one of its variables', (name, keyVariables) => {
  for (const variable of keyVariables) {
    const env = { [variable]: 'k', AZURE_OPENAI_ENDPOINT: 'https://resource.example' };
    const { hosts } = loadConfig({ argvFlags: {}, env, cwd: '/' });
    expect(hosts.filter(({ row }) => !row.simulated).map(({ row }) => row.name)).toEqual([name]);
  }
});

test('the configs that the page shows are taken', () => {
  const shown = [...PAGE.matchAll(/```json config\n([\s\S]*?)```/g)].map(([, text]) => text!);
  expect(shown.length).toBeGreaterThanOrEqual(4);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-page-'));
  const env = { AZURE_OPENAI_ENDPOINT: 'https://resource.example', AZURE_OPENAI_API_KEY: 'k', EXAMPLE_KEY: 'k' };
  for (const text of shown) {
    writeFileSync(join(folder, 'tollgate.config.json'), text);
    expect(() => loadConfig({ argvFlags: {}, env, cwd: folder }), text).not.toThrow();
  }
  rmSync(folder, { recursive: true });
});
