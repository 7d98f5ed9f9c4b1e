import { describe, expect, test } from 'vitest';
import { pathsUnder } from './paths.ts';
import { areaOf, type Finding, NOT_CLEAN_YET, phrasesIn } from './phrases.ts';
import { ALL, readText } from './source-files.ts';

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...pathsUnder('docs').filter((path) => path.endsWith('.md')),
];

function findings(): Finding[] {
  const sources = ALL.filter(({ path }) => path.startsWith('src/'));
  return [...sources, ...PAGES.map((path) => ({ path, text: readText(path) }))].flatMap(({ path, text }) =>
    phrasesIn(path, text),
  );
}

describe('English', () => {
  test('is plain: none of the phrases that need a second reading', () => {
    const found = findings();
    const strays = found.filter(({ path }) => !NOT_CLEAN_YET.includes(areaOf(path)));
    expect(
      strays.map(({ path, line, found: phrase, instead }) => `${path}:${line} "${phrase}": write ${instead}`),
      'Rewrite the sentence.',
    ).toEqual([]);
    const clean = NOT_CLEAN_YET.filter((area) => !found.some(({ path }) => areaOf(path) === area));
    expect(clean, 'This is clean: take it off NOT_CLEAN_YET in test/tidy/phrases.ts.').toEqual([]);
  });
});
