import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pathsUnder, ROOT } from './paths.ts';
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

/** These name files that are not there on purpose. */
const INVENTING = ['test/tidy/rules.test.ts', 'test/wire-facts.test.ts'];

/** A file of the repository, as comments and pages write it: with its folder, between backticks. */
const NAMED_FILE =
  /`((?:bench|campaigns|console|data|docs|fixtures|packages|scripts|src|test)\/[\w./-]+\.(?:js|json|md|tsx?))`/g;

const TEXTS = [...ALL, ...PAGES.map((path) => ({ path, text: readText(path) }))];

describe('English', () => {
  test('is plain: none of the phrases that need a second reading', () => {
    const texts = TEXTS.filter(({ path }) => !QUOTING.includes(path));
    const found = texts.flatMap(({ path, text }) => phrasesIn(path, text));
    expect(
      found.map(({ path, line, found: phrase, instead }) => `${path}:${line} "${phrase}": write ${instead}`),
      'Rewrite the sentence.',
    ).toEqual([]);
  });
});

test('every file that a comment or a page names is there', () => {
  const gone = TEXTS.filter(({ path }) => !INVENTING.includes(path)).flatMap(({ path, text }) =>
    [...text.matchAll(NAMED_FILE)]
      .filter(([, named]) => !existsSync(join(ROOT, named!)))
      .map(([, named]) => `${path}: ${named}`),
  );
  expect(gone, 'Name the file that has taken its place.').toEqual([]);
});
