import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The page of facts names every fact once, and only tests that are there. */

const ROOT = resolve(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'docs/wire-facts.md'), 'utf8');

const LAST_OF: Readonly<Record<string, number>> = { A: 30, C: 30, R: 27, L: 7, E: 7, M: 2, U: 10, X: 10, N: 14 };
const FACTS = Object.entries(LAST_OF).flatMap(([letter, last]) =>
  Array.from({ length: last }, (_, at) => `${letter}${at + 1}`),
);

interface Row {
  readonly fact: string;
  readonly words: string;
  readonly heldBy: readonly string[];
}

const ROWS: readonly Row[] = [...PAGE.matchAll(/^\| ([A-Z]\d+) \| (.+?) \| (.+) \|$/gm)].map(
  ([, fact, words, heldBy]) => ({ fact: fact!, words: words!, heldBy: heldBy!.split('<br>') }),
);

const NAMED_TEST = /^`([\w./-]+\.test\.ts)` → (.+)$/;
const REASON_WORDS_MIN = 5;

/** What is wrong with one entry; null when it names a test that is there, or a reason why there is none. */
function faultOf(entry: string): string | null {
  if (entry.startsWith('n/a: ')) return entry.split(/\s+/).length > REASON_WORDS_MIN ? null : 'gives no reason';
  const [, path, name] = NAMED_TEST.exec(entry) ?? [];
  if (path === undefined || name === undefined) return 'names no test';
  if (!existsSync(join(ROOT, path))) return `${path} is not there`;
  const source = readFileSync(join(ROOT, path), 'utf8');
  const missing = name
    .split(' › ')
    .filter((part) => !["'", '"', '`'].some((mark) => source.includes(mark + part + mark)));
  return missing.length === 0 ? null : `${path} has no “${missing.join('” and no “')}”`;
}

test('every fact stands on the page exactly once', () => {
  expect(ROWS.map(({ fact }) => fact).toSorted()).toEqual(FACTS.toSorted());
});

describe.each(ROWS)('$fact: $words', ({ heldBy }) => {
  test('names tests that are there, or says why there is none', () => {
    expect(heldBy.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
  });
});

test.each(['n/a: no', '`test/nowhere.test.ts` → x', '`test/wire-facts.test.ts` → no such test of ours', 'somewhere'])(
  'the check itself finds fault with %s',
  (entry) => {
    expect(faultOf(entry)).not.toBeNull();
  },
);
