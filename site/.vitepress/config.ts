import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf, literalCode, type MarkdownIt, repositoryLinks } from '../links.ts';
import { addressOf, pageFiles, ROOT, sidebarOf } from '../pages.ts';

const PAGES = pageFiles();
const DESCRIPTION =
  'A metered gateway for language-model calls: one key, one base URL, an exact receipt on every response.';

export default defineConfig({
  title: 'Tollgate',
  description: DESCRIPTION,
  // Pages are where they are read in the repository; nothing is copied here.
  srcDir: ROOT,
  srcExclude: otherFiles(),
  outDir: '../site/dist',
  cacheDir: '../node_modules/.cache/vitepress',
  rewrites: Object.fromEntries(PAGES.map((file) => [file, addressOf(file)!])),
  // The folder can be put under any address.
  base: './',
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: icon(), type: 'image/svg+xml' }]],
  // A page may write <id> without the browser taking it for an element.
  markdown: { html: false, anchor: { slugify: anchorOf }, config: extendMarkdown },
  themeConfig: {
    sidebar: sidebarOf(readFileSync(join(ROOT, 'README.md'), 'utf8')),
    search: {
      provider: 'local',
      options: { miniSearch: { searchOptions: { boostDocument: (id) => (/decisions|changelog/.test(id) ? 0.3 : 1) } } },
    },
    outline: { level: [2, 3] },
    docFooter: { prev: false, next: false },
  },
  // All of the search index is one file, which is loaded at the first search.
  vite: { publicDir: false, logLevel: 'warn', build: { chunkSizeWarningLimit: 2_000 } },
});

function extendMarkdown(markdown: unknown): void {
  literalCode(markdown as MarkdownIt);
  repositoryLinks(markdown as MarkdownIt);
}

/** Everything at the top of the repository that has no page. */
function otherFiles(): string[] {
  const tops = new Set(PAGES.map((file) => file.split('/', 1)[0]!));
  return readdirSync(ROOT, { withFileTypes: true })
    .filter(({ name }) => !tops.has(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));
}

function icon(): string {
  const drawing = readFileSync(join(ROOT, 'console', 'src', 'icon.svg'), 'utf8');
  return `data:image/svg+xml,${encodeURIComponent(drawing)}`;
}
