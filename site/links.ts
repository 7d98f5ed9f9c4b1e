import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { addressOf, ROOT } from './pages.ts';

/** The parts of a token of markdown-it that are used here. */
interface Token {
  type: string;
  readonly children: Token[] | null;
  content: string;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

export interface MarkdownIt {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } };
  readonly renderer: { readonly rules: Record<string, ((...args: never[]) => string) | undefined> };
}

interface State {
  readonly tokens: Token[];
  readonly env: { readonly realPath?: string };
}

/** Braces in code are the page's own: Vue must not take them for an expression. */
export function literalCode(markdown: MarkdownIt): void {
  const { rules } = markdown.renderer;
  const render = rules.code_inline!;
  rules.code_inline = (...args) => render(...args).replace('<code', '<code v-pre');
}

/** The anchor that the repository's own viewer gives a heading, so that a link is right in both places. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * Pages link to each other by their paths in the repository, which is right for whoever reads them there. On the site
 * they have other addresses, and files that are no pages, like sources, have none: their links become plain text.
 */
export function repositoryLinks(markdown: MarkdownIt): void {
  markdown.core.ruler.push('repository_links', ({ tokens, env }) => {
    if (env.realPath === undefined) return;
    const page = relative(ROOT, env.realPath);
    for (const { children } of tokens) if (children !== null) rewrite(children, page);
  });
}

function rewrite(tokens: readonly Token[], page: string): void {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === 'link_close' && isDropped) {
      unlink(token);
      isDropped = false;
    }
    if (token.type !== 'link_open') continue;
    const target = siteLink(page, token.attrGet('href') ?? '');
    if (target !== null) token.attrSet('href', target);
    else {
      unlink(token);
      isDropped = true;
    }
  }
}

/** An empty text in place of the tag. */
function unlink(token: Token): void {
  token.type = 'text';
  token.content = '';
}

/** Where a link of a page leads on the site; null for a file that is not on it. What does not exist stays, to be reported. */
export function siteLink(page: string, href: string): string | null {
  if (/^([a-z]+:|#)/i.test(href)) return href;
  const [, path = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const file = join(dirname(page), path);
  const address = addressOf(file) ?? addressOf(join(file, 'README.md'));
  if (address !== null) return `/${address}${anchor}`;
  return existsSync(join(ROOT, file)) ? null : href;
}
