import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.ts';

test('a secret is returned only by reveal, never by printing, joining or serialising it', () => {
  const secret = new Secret('hunter2');
  expect(secret.reveal()).toBe('hunter2');
  for (const shown of [`${secret}`, JSON.stringify({ secret }), inspect(secret), inspect({ deep: { secret } })]) {
    expect(shown).not.toContain('hunter2');
    expect(shown).toContain('[secret]');
  }
});
