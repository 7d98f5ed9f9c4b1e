import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** What `npm ci` runs at its end: scripts/warm-cache.js, in a folder that looks like a checkout. */

const REPOSITORY = join(import.meta.dirname, '..');
let folder: string;
let temporary: string;
let home: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'warm-cache-test-'));
  [temporary, home] = [join(folder, 'temporary'), join(folder, 'home')];
  for (const name of ['scripts', 'dist/console', 'temporary', 'home'])
    mkdirSync(join(folder, name), { recursive: true });
  cpSync(join(REPOSITORY, 'scripts/warm-cache.js'), join(folder, 'scripts/warm-cache.js'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'dist/console/index.html'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function warm(terms: { readonly waitMs?: number; readonly temporary?: string } = {}) {
  const args = [join(folder, 'scripts/warm-cache.js'), ...(terms.waitMs === undefined ? [] : [String(terms.waitMs)])];
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: terms.temporary ?? temporary };
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: home, env, encoding: 'utf8', timeout: 60_000 });
  return { status, stderr };
}

/** A program in place of the gateway. It notes its process id, its folder and its arguments. */
function gatewayThat(does: string): void {
  mkdirSync(join(folder, 'bin'));
  const noted = `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(join(folder, 'started'))}, JSON.stringify({ pid: process.pid, cwd: process.cwd(), args: process.argv.slice(2) }));`;
  writeFileSync(join(folder, 'bin/tollgate.js'), `${noted}\n${does}`);
}

function started(): { readonly pid: number; readonly cwd: string; readonly args: readonly string[] } {
  return JSON.parse(readFileSync(join(folder, 'started'), 'utf8'));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Processes that know this test's folder from their arguments or their environment; none where the system does not tell. */
function processesOfThisTest(): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1');
    } catch {
      return '';
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => ['cmdline', 'environ'].some((file) => read(pid, file).includes(folder)));
}

test('fills the compile cache by starting the gateway, and leaves no process, no ledger and no temporary file', () => {
  symlinkSync(join(REPOSITORY, 'bin'), join(folder, 'bin'));
  expect(warm()).toEqual({ status: 0, stderr: '' });
  expect(readdirSync(join(home, '.cache/tollgate'), { recursive: true }).length).toBeGreaterThan(100);
  expect(readdirSync(home)).toEqual(['.cache']);
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesOfThisTest()).toEqual([]);
});

test('starts nothing where the console was not built, as on servers', () => {
  gatewayThat('');
  rmSync(join(folder, 'dist/console/index.html'));
  expect(warm()).toEqual({ status: 0, stderr: '' });
  expect(existsSync(join(folder, 'started'))).toBe(false);
});

test('stops the gateway as soon as it is ready, which listens on a port of its own and uses no other ledger', () => {
  gatewayThat(`process.stdout.write('ready'); setInterval(() => {}, 1000);`);
  expect(warm()).toEqual({ status: 0, stderr: '' });
  const { pid, args } = started();
  expect(isRunning(pid)).toBe(false);
  expect(args).toEqual(expect.arrayContaining(['serve', '--port', '0', '--data']));
  expect(args[args.indexOf('--data') + 1]).toMatch(new RegExp(`^${temporary}/`));
  expect(readdirSync(temporary)).toEqual([]);
});

test('starts the gateway in a folder of its own, not beside a config file, which may name a real ledger', () => {
  gatewayThat(`process.stdout.write('ready');`);
  warm();
  expect(started().cwd).toMatch(/tollgate-warm-/);
});

test.each([
  ['a gateway that cannot start', 'process.exit(2);', {}],
  [
    'a gateway that is never ready and ignores SIGTERM',
    `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`,
    { waitMs: 500 },
  ],
])('does not fail the installation because of %s', (_name, does, terms) => {
  gatewayThat(does);
  expect(warm(terms).status).toBe(0);
  expect(existsSync(join(folder, 'started')) && isRunning(started().pid)).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
});

test('does not fail the installation where nothing can be written, and says what follows', () => {
  gatewayThat('');
  const { status, stderr } = warm({ temporary: join(folder, 'package.json') });
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^The compile cache was not filled.*ENOTDIR/)]);
  expect(existsSync(join(folder, 'started'))).toBe(false);
});
