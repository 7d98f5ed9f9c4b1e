import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BANS } from './banned.ts';
import { importsOf } from './imports.ts';
import { PACKAGES, readText } from './source-files.ts';

const PATHS = PACKAGES.map(({ path }) => path);
/** The rules of src/ that also hold in packages, which run in browsers and have no Clock, Config or Sender. */
const HELD = [
  'the type any',
  'a comment that turns a check off',
  'console',
  'process.env',
  'code made from text',
  'new Worker',
];

function dependenciesOf(path: string): string[] {
  const [, folder] = /^(packages\/[^/]+)\//.exec(path)!;
  return Object.keys(JSON.parse(readText(`${folder}/package.json`)).dependencies ?? {});
}

describe('packages', () => {
  test.each(BANS.filter(({ what }) => HELD.includes(what)))('have no $what', ({ find, instead }) => {
    const found = PACKAGES.flatMap((file) => find(file).map((line) => `${file.path}:${line}`));
    expect(found, `Use ${instead}.`).toEqual([]);
  });

  test('import their own files and their dependencies only, never those of the gateway', () => {
    const strays = PACKAGES.flatMap((file) => {
      const { files, modules, unreadable } = importsOf(file, PATHS);
      const own = files.filter((target) => dirname(target) !== dirname(file.path) || !PATHS.includes(target));
      const foreign = modules.filter((name) => !dependenciesOf(file.path).includes(name));
      return [...own, ...foreign, ...unreadable].map((target) => `${file.path} imports ${target}`);
    });
    expect(strays, 'Packages are published alone: write what they need there.').toEqual([]);
  });

  test('every rule that is held here is one of the list', () => {
    expect(HELD.filter((name) => !BANS.some(({ what }) => what === name))).toEqual([]);
  });
});
