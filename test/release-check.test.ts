import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type PackageManifest, packageManifest } from '../scripts/package/manifest.ts';
import { changelogSection } from '../scripts/release/changelog.ts';
import { differences } from '../scripts/release/differences.ts';
import { runChecks } from '../scripts/release/run-checks.ts';
import { sbomProblems } from '../scripts/release/sbom.ts';

const ROOT = resolve(import.meta.dirname, '..');

describe('a release', () => {
  test('succeeds only if every check does, and runs all of them', async () => {
    const lines: string[] = [];
    const good = { name: 'good', run: () => 'as it should be' };
    const bad = {
      name: 'bad',
      run: () => {
        throw new Error('It is not so.');
      },
    };
    expect(await runChecks([good], (line) => lines.push(line))).toBe(true);
    expect(await runChecks([bad, good], (line) => lines.push(line))).toBe(false);
    expect(lines).toEqual([
      'ok      good: as it should be',
      'All 1 checks succeeded.',
      'FAILED  bad: It is not so.',
      'ok      good: as it should be',
      'Failed: bad.',
    ]);
  });
});

describe('a rebuild', () => {
  const tree = new Map([
    ['a', '1'],
    ['b', '2'],
  ]);

  test('that has the same files is the same', () => {
    expect(differences(tree, new Map(tree))).toEqual([]);
  });

  test('that differs says where', () => {
    const other = new Map([
      ['b', '3'],
      ['c', '4'],
    ]);
    expect(differences(tree, other)).toEqual(['a is missing in the rebuild', 'b differs', 'c is only in the rebuild']);
  });
});

describe('the changes of a version', () => {
  const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.0 (2027-01-31)\n\n- old\n- older\n\n## 1.1.0\n\n';

  test('are those of its own section', () => {
    expect(changelogSection(CHANGELOG, '1.2.0')).toEqual({ title: '1.2.0 (2027-01-31)', text: '- old\n- older' });
  });

  test('are those that are not released if it has no section', () => {
    expect(changelogSection(CHANGELOG, '1.3.0')).toEqual({ title: 'Unreleased', text: '- new' });
  });

  test('must be there', () => {
    expect(() => changelogSection(CHANGELOG, '1.1.0')).toThrow('1.1.0 of CHANGELOG.md lists no change');
    expect(() => changelogSection('# Changelog\n', '1.1.0')).toThrow('no section 1.1.0');
  });

  test('are in our own changelog', () => {
    const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
    expect(changelogSection(changelog, packageManifest(ROOT).version).text).not.toBe('');
  });
});

describe('the bill of materials', () => {
  const manifest = { name: 'tollgate', version: '1.0.0', dependencies: { '@a/b': '2.0.0', c: '3.0.0' } };
  const problemsOf = (...components: object[]): string[] =>
    sbomProblems(JSON.stringify({ bomFormat: 'CycloneDX', components }), manifest as unknown as PackageManifest);
  const own = { name: 'tollgate', version: '1.0.0', purl: 'pkg:npm/tollgate@1.0.0' };
  const scoped = { group: '@a', name: 'b', version: '2.0.0', purl: 'pkg:npm/%40a/b@2.0.0' };
  const plain = { name: 'c', version: '3.0.0', purl: 'pkg:npm/c@3.0.0' };

  test('lists the package and everything that it pins', () => {
    expect(problemsOf(own, scoped, plain)).toEqual([]);
  });

  test('is wrong if a package is missing, has another version, or was not pinned', () => {
    expect(problemsOf(own, scoped)).toEqual(['c is missing']);
    expect(problemsOf(own, scoped, { ...plain, version: '3.0.1' })).toEqual(['c is 3.0.1, not 3.0.0']);
    expect(problemsOf(own, scoped, plain, { ...plain, name: 'd' })).toEqual(['d 3.0.0 is not pinned by the package']);
  });
});
