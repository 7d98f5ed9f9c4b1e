import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'decisions');

/** As the index writes it: `- [0004](0004-a-half-closed-client-is-gone.md): its title`. */
function lineOf(page: string): string {
  const title = /^# (.+)$/m.exec(readFileSync(join(FOLDER, page), 'utf8'))?.[1];
  return `- [${page.slice(0, 4)}](${page}): ${title}`;
}

test('the index of decisions names every page once, by its title', () => {
  const pages = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  const lines = index.split('\n').filter((line) => line.startsWith('- ['));
  expect(lines.toSorted()).toEqual(pages.map(lineOf).toSorted());
});
