import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { siteLink } from '../site/links.ts';
import { addressOf, pageFiles, ROOT } from '../site/pages.ts';

describe('a link of a page', () => {
  test.each([
    ['docs/api.md', 'hub.md#documents', '/hub.md#documents'],
    ['docs/clients/openai.md', '../api.md', '/api.md'],
    ['docs/api.md', 'clients/README.md', '/clients/index.md'],
    ['README.md', 'docs/decisions/', '/decisions/index.md'],
    ['docs/testing.md', '../CONTRIBUTING.md', '/contributing.md'],
    ['docs/api.md', '#errors', '#errors'],
    ['docs/api.md', 'https://example.com/a.md', 'https://example.com/a.md'],
  ])('from %s to %s leads to %s on the site', (page, href, target) => {
    expect(siteLink(page, href)).toBe(target);
  });

  test('to a source is plain text, and one to nothing stays, so that the build reports it', () => {
    expect(siteLink('docs/providers.md', '../src/hosts/rows.ts')).toBeNull();
    expect(siteLink('docs/deploy.md', '../deploy/')).toBeNull();
    expect(siteLink('docs/api.md', '../no-such-file')).toBe('../no-such-file');
  });
});

describe('the site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-site-'));
  const filesIn = () => readdirSync(folder, { recursive: true, encoding: 'utf8' });

  // Fails with every link that leads nowhere.
  beforeAll(async () => {
    const vitepress = join(ROOT, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
    await promisify(execFile)(process.execPath, [vitepress, 'build', 'site', '--outDir', folder], { cwd: ROOT });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has every page', () => {
    const wanted = pageFiles().map((file) => addressOf(file)!.replace(/\.md$/, '.html'));
    expect(wanted.filter((file) => !filesIn().includes(file))).toEqual([]);
  });

  test('has the headings that its links lead to', () => {
    const names = filesIn().filter((name) => name.endsWith('.html'));
    const pages = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
    const broken = [...pages].flatMap(([name, text]) =>
      [...text.matchAll(/<a\b[^>]*\bhref="([^":#]*)#([^"]+)"/g)]
        .filter(([, path = '', anchor = '']) => {
          const target = path === '' ? name : join(dirname(name), path);
          return !pages.get(target)?.includes(`id="${decodeURIComponent(anchor)}"`);
        })
        .map(([, path = '', anchor = '']) => `${name}: ${path}#${anchor}`),
    );
    expect(broken).toEqual([]);
  });

  test('loads nothing from elsewhere', () => {
    const loads = /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/g;
    const pages = filesIn().filter((name) => name.endsWith('.html'));
    expect(pages.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(loads) ?? [])).toEqual([]);
    const styles = filesIn().filter((name) => name.endsWith('.css'));
    expect(
      styles.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/url\((?:https?:)?\/\//g) ?? []),
    ).toEqual([]);
  });

  test('has an index for searching without a network', () => {
    const index = filesIn().find((name) => /localSearchIndex/.test(name) && name.endsWith('.js'))!;
    const text = readFileSync(join(folder, index), 'utf8');
    for (const word of ['idempotency', 'overspent', 'litellm']) expect(text).toContain(word);
  });
});
