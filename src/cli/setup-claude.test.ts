import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';

/** Claude Code would send a key from these variables of the user's shell beside that of the gateway. */

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

async function envWith(...args: string[]): Promise<unknown> {
  const home = join(cli.folder, 'home');
  await cli.run(['setup', 'claude', '--url', 'http://127.0.0.1:8080', '--model', 'm', ...args], { HOME: home });
  const settings = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8')) as { env: unknown };
  return settings.env;
}

test('the variables that may hold a key of the vendor are emptied', async () => {
  expect(await envWith()).toMatchObject({ ANTHROPIC_AUTH_TOKEN: 'local', ANTHROPIC_API_KEY: '' });
  expect(await envWith('--key-env', 'MY_KEY')).toMatchObject({ ANTHROPIC_AUTH_TOKEN: '', ANTHROPIC_API_KEY: '' });
});

test.each(['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'])(
  '%s is kept if it holds the key of the gateway',
  async (name) => {
    const env = await envWith('--key-env', name);
    expect(env).not.toHaveProperty(name);
    expect(Object.values(env as object)).toContain('');
  },
);
