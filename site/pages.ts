import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..');

/** Pages outside docs/, and their addresses on the site. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
  'bench/README.md': 'benchmarks.md',
};

/** The address of a page on the site, as a path that ends in `.md`; null for a file that is no page of it. */
export function addressOf(file: string): string | null {
  const other = OTHER_PAGES[file];
  if (other !== undefined) return other;
  if (!file.startsWith('docs/') || !file.endsWith('.md')) return null;
  return file.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Every page of the site, by its path in the repository. */
export function pageFiles(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  return [...Object.keys(OTHER_PAGES), ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
}

export interface SidebarItem {
  readonly text: string;
  /** Without it the item is a heading only. */
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: SidebarItem[];
}

/** The groups and titles of the sidebar are those under "Documentation" in the README. */
export function sidebarOf(readme: string): SidebarItem[] {
  const list = /^## Documentation\n([\s\S]*)/m.exec(readme)?.[1] ?? '';
  const named = [...list.matchAll(LINK)].map(([, , path = '']) => path);
  return list
    .split(/^- \*\*/m)
    .slice(1)
    .map((group) => groupOf(group, named));
}

const LINK = /\[([^\]]+)\]\(([^)#]+)\)/g;

function groupOf(text: string, named: readonly string[]): SidebarItem {
  const [title = '', links = ''] = text.split(':**', 2);
  const items = [...links.matchAll(LINK)].map(([, name = '', path = '']) => itemOf(name, path, named));
  return { text: title, collapsed: false, items };
}

function itemOf(name: string, path: string, named: readonly string[]): SidebarItem {
  const text = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('`', '');
  const folder = /^(.+)\/(?:README\.md)?$/.exec(path)?.[1];
  const items = folder?.startsWith('docs/') ? pagesIn(folder, named) : [];
  const address = addressOf(folder === undefined ? path : `${folder}/README.md`);
  if (address === null) throw new Error(`README.md names ${path} under "Documentation", which is no page of the site.`);
  return { text, link: linkTo(address), ...(items.length === 0 ? {} : { collapsed: true, items }) };
}

/** The pages of a folder by their headings, without those that the list names themselves. */
function pagesIn(folder: string, named: readonly string[]): SidebarItem[] {
  const names = readdirSync(join(ROOT, folder)).filter(
    (name) => name.endsWith('.md') && name !== 'README.md' && !named.includes(`${folder}/${name}`),
  );
  return names.map((name) => {
    const heading = /^# (.*)$/m.exec(readFileSync(join(ROOT, folder, name), 'utf8'))?.[1] ?? name;
    const number = /^\d{4}/.exec(name)?.[0];
    const title = heading.replaceAll('`', '');
    return { text: number === undefined ? title : `${number} ${title}`, link: linkTo(addressOf(`${folder}/${name}`)!) };
  });
}

function linkTo(address: string): string {
  return `/${address.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

export function linksIn(items: readonly SidebarItem[]): string[] {
  return items.flatMap((item) => [...(item.link === undefined ? [] : [item.link]), ...linksIn(item.items ?? [])]);
}
