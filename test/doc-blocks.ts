import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** A code block of a page. The mark after its language says what tests do with it, as ```` ```sh run ````. */
interface DocBlock {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly mark: string;
  readonly text: string;
}

/** Every page with code that people may copy. Decisions and the changelog are about the past. */
export const PAGES_WITH_CODE: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'bench/README.md'],
  ...['packages/client/README.md', 'packages/ai-sdk/README.md'].filter((page) => existsSync(join(ROOT, page))),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .map((name) => `docs/${name}`)
    .toSorted(),
];

const FENCE = /^```(\S*)(?: (.*))?$/;

export function blocksOf(page: string): DocBlock[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  const blocks: DocBlock[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [fence, language = '', mark = ''] = FENCE.exec(lines[at]!) ?? [];
    if (fence === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end === -1) throw new Error(`${page}:${at + 1}: the block has no end.`);
    blocks.push({ page, line: at + 1, language, mark, text: `${lines.slice(at + 1, end).join('\n')}\n` });
    at = end;
  }
  return blocks;
}

/** Blocks that a test runs: commands, a server, code. */
export function blocksToRun(page: string, ...languages: readonly string[]): DocBlock[] {
  return blocksOf(page).filter(
    ({ language, mark }) => languages.includes(language) && (mark === 'run' || mark === 'serve'),
  );
}

/** What is wrong with the mark of a block; null if nothing is. */
export function faultOf({ page, language, mark }: DocBlock): string | null {
  const [, word = '', rest = ''] = /^([a-z-]*):? ?(.*)$/.exec(mark) ?? [];
  if (word === 'not-run') return rest === '' ? 'say why it is not run, as ```sh not-run: it needs root' : null;
  if (word === 'checked') return checkFault(page, rest);
  const expected = MARKS[word];
  if (expected === undefined)
    return 'a test must run it (```sh run, ```json config), or it says which test reads it (checked: test/….test.ts) or why it is not run (not-run: …)';
  return expected(page, language) ? null : `no test looks for "${language} ${word}" on this page`;
}

/** docs/testing.md says who runs the blocks with a mark. */
const MARKS: Readonly<Record<string, (page: string, language: string) => boolean>> = {
  run: (page, language) => (language === 'sh' ? isRunAsShell(page) : ['ts', 'js', 'py'].includes(language)),
  serve: (page, language) => language === 'sh' && page.startsWith('docs/start/'),
  config: (page, language) => language === 'json' && /^docs\/[^/]+\.md$/.test(page),
  request: (page, language) => language === 'json' && page === 'docs/api.md',
  answer: (page, language) => language === 'json' && page === 'docs/api.md',
};

function isRunAsShell(page: string): boolean {
  return /^docs\/(start\/)?[^/]+\.md$/.test(page);
}

function checkFault(page: string, test: string): string | null {
  if (!existsSync(join(ROOT, test))) return `there is no ${test}`;
  const text = readFileSync(join(ROOT, test), 'utf8');
  const names = page.split('/');
  return names.some((name) => text.includes(name.replace(/\.md$/, ''))) ? null : `${test} does not name the page`;
}
