import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

describe('hints', () => {
  test('name the program as it was started, and the data folder and config file that were given', async () => {
    cli.program = 'npx tollgate';
    writeFileSync(join(cli.folder, 'my config.json'), '{}');
    const flags = ['--data', cli.folder, '--config', 'my config.json'];
    const typed = (command: string) => `npx tollgate ${command} --data ${cli.folder} --config 'my config.json'`;
    expect((await cli.run(['balance', 'bob', ...flags])).err).toContain(`Try: ${typed('accounts list')}\n`);
    expect(JSON.parse((await cli.run(['balance', 'bob', '--json', ...flags])).err).error.hint).toBe(
      typed('accounts list'),
    );
    expect((await cli.run(['accounts', 'list', ...flags])).err).toContain(`: ${typed('accounts create ada')}\n`);
    await cli.run(['accounts', 'create', 'ada']);
    const minted = await cli.run(['keys', 'mint', '--account', 'ada', '--models', 'x', ...flags]);
    expect(minted.err).toContain(`(see: ${typed('models')})`);
    const missing = await cli.run(['accounts', 'list', '--data', 'nowhere']);
    expect(missing.err).toContain('run "npx tollgate serve --data nowhere" once');
  });

  test('can be copied if the name of an account has spaces', async () => {
    const { err } = await cli.run(['keys', 'mint', '--account', 'Ada & Co', '--window', 'day']);
    expect(err).toContain("Try: tollgate keys mint --account 'Ada & Co' --cap 10 --window day\n");
  });

  test('do not repeat the URL of a database', async () => {
    const { err } = await cli.run(['balance', 'bob', '--store', 'postgres://ada:hunter2@db.example/books']);
    expect(err).toContain('Try: tollgate accounts list --store URL\n');
    expect(err).not.toContain('hunter2');
  });
});
