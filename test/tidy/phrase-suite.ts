import { describe, expect, test } from 'vitest';
import { pathsUnder } from './paths.ts';
import { phrasesIn } from './phrases.ts';
import { ALL, readText } from './source-files.ts';

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...['docs', 'bench', 'deploy'].flatMap(pathsUnder).filter((path) => path.endsWith('.md')),
];

/** These quote the phrases. */
const QUOTING = ['test/tidy/phrases.ts', 'test/tidy/rules.test.ts'];

describe('English', () => {
  test('is plain: none of the phrases that need a second reading', () => {
    const sources = ALL.filter(({ path }) => !QUOTING.includes(path));
    const texts = [...sources, ...PAGES.map((path) => ({ path, text: readText(path) }))];
    const found = texts.flatMap(({ path, text }) => phrasesIn(path, text));
    expect(
      found.map(({ path, line, found: phrase, instead }) => `${path}:${line} "${phrase}": write ${instead}`),
      'Rewrite the sentence.',
    ).toEqual([]);
  });
});
