import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';

const BIN = join(import.meta.dirname, '../bin/tollgate.js');
const hasNamespaces = spawnSync('unshare', ['--mount', 'mount', '--bind', tmpdir(), tmpdir()]).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-private-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs commands where the folder `tmp` is what systemd puts in the place of /tmp for a unit. */
function runInUnit(commands: string): { status: number | null; stderr: string } {
  const own = join(folder, 'systemd-private-1-tollgate.service-1', 'tmp');
  const seen = join(folder, 'tmp');
  mkdirSync(own, { recursive: true });
  mkdirSync(seen);
  const script = `mount --bind "${own}" "${seen}" && cd "${folder}" && tollgate() { "${process.execPath}" "${BIN}" "$@" --data data; }; ${commands}`;
  const options = { env: processEnvironment(folder, { PATH: process.env.PATH ?? '' }), encoding: 'utf8' } as const;
  return spawnSync('unshare', ['--mount', 'sh', '-c', script], options);
}

test.skipIf(!hasNamespaces).each([
  ['a backup', 'store backup tmp/backup.sqlite'],
  ['an archive', 'store archive --before 40d --to tmp/archive'],
])('%s is not written to a folder that systemd deletes (skipped where there are no namespaces)', (_, command) => {
  const { status, stderr } = runInUnit(`tollgate accounts create ada && tollgate ${command}`);
  expect(status).toBe(1);
  expect(stderr).toContain(`${join(folder, 'tmp')} is a folder of this service alone`);
});
