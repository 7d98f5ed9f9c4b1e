import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

const MINT = ['keys', 'mint', '--account', 'ada'];

test('a key is granted a permission, shown with it, and loses it', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  const minted = await cli.json([...MINT, '--allow', 'provider-keys']);
  expect(minted.permissions).toEqual(['calls', 'provider_keys']);
  const id = String(minted.id);
  const { out: listed } = await cli.run(['keys', 'list']);
  expect(listed).toContain('PERMISSIONS');
  expect(listed).toContain('calls,provider-keys');
  const denied = await cli.run(['keys', 'update', id, '--deny', 'provider-keys']);
  expect(denied.out).toMatch(/permissions +calls\n/);
  expect(await cli.json(['keys', 'update', id, '--allow', 'provider-keys'])).toMatchObject({
    permissions: ['calls', 'provider_keys'],
  });
});

test('a key has a default for fields that cannot be translated, which is shown and changed', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  const minted = await cli.json([...MINT, '--on-unsupported', 'drop']);
  expect(minted.on_unsupported).toBe('drop');
  expect((await cli.run(['keys', 'list'])).out).toMatch(/UNSUPPORTED[^\n]*\n[^\n]* drop /);
  const changed = await cli.run(['keys', 'update', String(minted.id), '--on-unsupported', 'refuse']);
  expect(changed.out).toMatch(/on unsupported +refuse\n/);
  expect(await cli.json(MINT)).toMatchObject({ on_unsupported: 'refuse' });
});
