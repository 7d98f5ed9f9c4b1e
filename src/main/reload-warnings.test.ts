import { expect, test } from 'vitest';
import { createLog } from '../kit/log.ts';
import { warnAfterReload } from './reload-warnings.ts';
import type { Running } from './start.ts';

async function warningsOf(unpriced: readonly string[], unreadableSecrets: () => Promise<number>): Promise<string> {
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  await warnAfterReload({ catalog: { unpriced } as Running['catalog'], unreadableSecrets }, log);
  return lines.join('');
}

test('nothing is logged about settings that do what they say', async () => {
  expect(await warningsOf([], async () => 0)).toBe('');
});

test('models that are not served because they have no price are named', async () => {
  const said = await warningsOf(['example-large', 'example-small'], async () => 0);
  expect(said).toContain('"models":["example-large","example-small"],"msg":"Some models are not served');
  expect(said).toContain('"level":"warn"');
});

test('a store that cannot be read fails no reload', async () => {
  const said = await warningsOf([], () => Promise.reject(new Error('away')));
  expect(said).toContain('"message":"away"');
  expect(said).toContain('Stored secrets cannot be read');
});
