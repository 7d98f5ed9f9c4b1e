import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Ended {
  readonly code: unknown;
  readonly said: string;
}

function run(...words: readonly string[]): Promise<Ended> {
  const root = join(import.meta.dirname, '..');
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: root }, (error, _, said) => resolve({ code: error?.code, said }));
  });
}

test.each([
  ['a flag that it does not have', ['--kills', '5'], "Unknown option '--kills'. The flags are --cycles, --seed.\n"],
  [
    'a flag in place of a value',
    ['--seed', '--cycles', '5'],
    "Option '--seed' argument is ambiguous. The flags are --cycles, --seed.\n",
  ],
  ['a word that is not a flag', ['200'], "Unexpected argument '200'. The flags are --cycles, --seed.\n"],
  [
    'a flag without its value',
    ['--seed'],
    "Option '--seed <value>' argument missing. The flags are --cycles, --seed.\n",
  ],
  ['a value that is not a number', ['--cycles', 'many'], '--cycles must be a whole number.\n'],
])('a campaign with %s says so in one line and ends', async (_, words, said) => {
  expect(await run('campaigns/kill.ts', ...words)).toEqual({ code: 2, said });
});
