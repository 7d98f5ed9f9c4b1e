import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processEnvironment } from '../campaigns/process-environment.ts';
import { BIN } from '../campaigns/programs.ts';

/** Commands as people type them before `| head`: real processes, whose output nobody reads any more. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-closed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Output = 'pipe' | number;

async function run(args: readonly string[], closed: readonly ('stdout' | 'stderr')[], stdout: Output = 'pipe') {
  const env = processEnvironment(folder, { TOLLGATE_LOCAL_HOSTS: 'false' });
  const child = spawn(process.execPath, [BIN, ...args], { cwd: folder, env, stdio: ['ignore', stdout, 'pipe'] });
  let err = '';
  child.stderr!.on('data', (chunk) => {
    err += chunk;
  });
  // Closed before the command has loaded, so its first write fails.
  for (const name of closed) child[name]!.destroy();
  const [code, signal] = await once(child, 'close');
  return { code, signal, err };
}

describe('a command whose standard output is closed', () => {
  test.each([['--help'], ['models --json'], ['accounts create acme']])(
    'ends with 0 and without an error: %s',
    async (line) => {
      const { code, err } = await run(line.split(' '), ['stdout']);
      expect(code).toBe(0);
      expect(err).not.toMatch(/EPIPE|Error|node:/);
    },
  );

  test('and standard error too, ends with 0', async () => {
    expect(await run(['models'], ['stdout', 'stderr'])).toMatchObject({ code: 0, signal: null });
  });
});

test('a command whose messages nobody reads does its work and keeps its exit code', async () => {
  expect(await run(['models'], ['stderr'])).toMatchObject({ code: 0, signal: null });
  expect(await run(['receipts', 'show', 'req_none'], ['stderr'])).toMatchObject({ code: 3, signal: null });
});

test('a command whose output does not fit on the disk says so', async () => {
  const { code, err } = await run(['models'], [], openSync('/dev/full', 'w'));
  expect(code).toBe(1);
  expect(err).toContain('Cannot write to standard output (ENOSPC).');
  expect(err).not.toContain('node:');
});
