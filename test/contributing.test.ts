import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../src/store/migrations/index.ts';

/** The recipes of CONTRIBUTING.md name the files that their examples really touch, and identifiers that are there. */

const ROOT = resolve(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');

interface Recipe {
  readonly title: string;
  /** The identifiers of the example: the code words in the sentence that says "The example is". */
  readonly examples: readonly string[];
  readonly rows: readonly { readonly path: string; readonly change: string }[];
  readonly text: string;
}

const codeWords = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);

function readRecipes(): Recipe[] {
  const [, ...parts] = PAGE.slice(PAGE.indexOf('## Recipes')).split(/^### /m);
  return parts.map((text) => ({
    title: text.slice(0, text.indexOf('\n')),
    examples: codeWords(/The example is [^|]*?\.(?=\s*\n\n)/.exec(text)?.[0] ?? ''),
    rows: [...text.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, path, change]) => ({
      path: path!,
      change: change!,
    })),
    text,
  }));
}

const RECIPES = readRecipes();

const SEARCHED = ['src', 'docs', 'scripts', 'data', 'deploy'];
const SEARCHED_FILES = ['README.md', 'ARCHITECTURE.md', 'package.json', 'tollgate.config.schema.json'];

/** Files of the product and its pages; not tests, and not pages about the past. */
function productFiles(): string[] {
  const found = SEARCHED.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
  return [...found.filter((path) => !path.startsWith('docs/decisions/')), ...SEARCHED_FILES];
}

const TEXTS: ReadonlyMap<string, string> = new Map(
  productFiles().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const contains = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w-])${escaped(word)}(?![\\w-])`).test(text);

/** What a row stands for: the file itself, or every file of a folder. */
const covers = (path: string, file: string): boolean => (path.endsWith('/') ? file.startsWith(path) : file === path);

function textOf(path: string): string {
  if (!statSync(join(ROOT, path)).isDirectory()) return readFileSync(join(ROOT, path), 'utf8');
  return [...TEXTS].flatMap(([file, text]) => (covers(path, file) ? [file, text] : [])).join('\n');
}

test('there is a recipe for everything that is added again and again', () => {
  const things = ['host', 'wire', 'translated field', 'receipt field', 'error', 'command', 'migration', 'metric'];
  expect(RECIPES.map(({ title }) => title).toSorted()).toEqual(
    things.map((thing) => `Add ${/^[aeiou]/.test(thing) ? 'an' : 'a'} ${thing}`).toSorted(),
  );
});

describe.each(RECIPES)('$title', ({ examples, rows, text }) => {
  test('names files that exist', () => {
    const paths = codeWords(text).filter((word) => /^(src|test|docs|scripts|data)\/[\w./-]+$/.test(word));
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('names identifiers that are in the file of their row', () => {
    const identifiers = rows.flatMap(({ path, change }) =>
      codeWords(change)
        .filter((word) => /^[A-Za-z_][\w.-]*$/.test(word))
        .map((word) => ({ path, word })),
    );
    const isThere = ({ path, word }: { path: string; word: string }) =>
      contains(textOf(path), word) ||
      existsSync(join(ROOT, path, word)) ||
      existsSync(join(ROOT, 'src/wires/chat', word));
    expect(identifiers.filter((one) => !isThere(one))).toEqual([]);
  });

  test('has an example whose names occur in exactly the files of its table', () => {
    expect(examples.length).toBeGreaterThan(0);
    const found = [...TEXTS].filter(([path, content]) => examples.some((name) => contains(path + content, name)));
    const files = found.map(([path]) => path);
    const missing = files.filter((file) => !rows.some(({ path }) => covers(path, file)));
    expect(missing, 'The example is here too: add a row.').toEqual([]);
    const needless = rows.filter(({ path }) => !files.some((file) => covers(path, file)));
    expect(needless, 'The example is not here: take the row out.').toEqual([]);
  });
});

test('every file of a migration is a step, in the order of its number', () => {
  const files = readdirSync(join(ROOT, 'src/store/migrations')).filter((name) => /^\d/.test(name));
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(files.toSorted().map((name) => Number(name.slice(0, 4))));
});
