import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** An installation whose program writes down where it was started. */
let installed: string;

beforeAll(() => {
  installed = mkdtempSync(join(tmpdir(), 'tollgate-installed-'));
  for (const folder of ['scripts', 'bin', 'dist/console']) mkdirSync(join(installed, folder), { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}');
  writeFileSync(join(installed, 'dist/console/index.html'), '');
  copyFileSync(new URL('../scripts/warm-cache.js', import.meta.url), join(installed, 'scripts/warm-cache.js'));
  const seen = JSON.stringify(join(installed, 'seen'));
  const noting = `(await import('node:fs')).writeFileSync(${seen}, process.cwd()); console.log('ready');`;
  writeFileSync(join(installed, 'bin/tollgate.js'), noting);
});
afterAll(() => rmSync(installed, { recursive: true }));

test('the start after an installation does not read a config file beside it, which may name a real ledger', () => {
  execFileSync(process.execPath, [join(installed, 'scripts/warm-cache.js')], { cwd: installed });
  const startedIn = readFileSync(join(installed, 'seen'), 'utf8');
  expect(startedIn).toContain('tollgate-warm-');
  expect(existsSync(startedIn)).toBe(false);
});
