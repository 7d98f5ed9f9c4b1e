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

test('a list that is given in several options of the same name counts as a whole', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  const lists = ['--allow', 'provider-keys', '--allow', 'webhooks', '--models', 'sim-gpt', '--models', 'sim-gpt-mini'];
  expect(await cli.json([...MINT, ...lists])).toMatchObject({
    permissions: ['calls', 'provider_keys', 'webhooks'],
    models: ['sim-gpt', 'sim-gpt-mini'],
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

test('a key is rotated: the new secret is alone on stdout, and the key shows until when the old one works', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  const minted = await cli.json(MINT);
  const rotated = await cli.run(['keys', 'rotate', String(minted.id), '--grace', '1h']);
  expect(rotated.out).toMatch(/^tg_live_\w{38}\n$/);
  expect(rotated.out.trim()).not.toBe(minted.secret);
  expect(rotated.err).toContain('it is not shown again');
  const shown = await cli.run(['keys', 'show', String(minted.id)]);
  expect(shown.out).toMatch(/old key works until +2026-11-15 13:00:00 UTC\n/);
  expect(shown.out).not.toContain(rotated.out.trim());
  for (const [grace, message] of [
    ['soon', 'a duration like'],
    ['31d', 'at most 30 days'],
  ] as const) {
    expect((await cli.run(['keys', 'rotate', String(minted.id), '--grace', grace])).err).toContain(message);
  }
});
