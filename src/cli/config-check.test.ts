import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

describe('config check', () => {
  test('shows the settings in effect, with the names of keys and never a key', async () => {
    const file = { hosts: [{ name: 'own', base_url: 'https://own.example/v1', key: 'hunter2' }] };
    writeFileSync(join(cli.folder, 'tollgate.config.json'), JSON.stringify(file));
    for (const json of [[], ['--json']]) {
      const { code, out } = await cli.run(['config', 'check', ...json], { SOME_KEY: 'hunter2' });
      expect(code).toBe(EXIT.ok);
      expect(out).toContain('own');
      expect(out).toContain('hosts[0].key');
      expect(out).not.toContain('hunter2');
    }
  });

  test('names models that are listed but have no price', async () => {
    const prices = { paid: { input: 1, output: 1 } };
    const file = {
      hosts: [{ name: 'own', base_url: 'https://own.example/v1', models: ['paid', 'forgotten'] }],
      prices,
    };
    writeFileSync(join(cli.folder, 'tollgate.config.json'), JSON.stringify(file));
    const { code, out } = await cli.run(['config', 'check']);
    expect([code, out]).toEqual([EXIT.ok, expect.stringMatching(/not served +forgotten: set a price for each/)]);
    expect(await cli.json(['config', 'check'])).toMatchObject({ not_priced: ['forgotten'] });
  });

  test('says where the management API is', async () => {
    const shown = async (...options: string[]) => (await cli.run(['config', 'check', ...options])).out;
    expect(await shown()).toMatch(/^management API +on the same port as calls$/m);
    expect(await shown('--console-port', '9465')).toMatch(/^management API +127\.0\.0\.1:9465$/m);
    expect(await shown('--no-console')).toMatch(/^management API +not served$/m);
  });

  test('uses snake_case names in JSON', async () => {
    const { config } = await cli.json(['config', 'check']);
    const names = (value: unknown): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([name, member]) => [name, ...names(member)])
        : [];
    expect(names(config).filter((name) => !/^[a-z0-9_]+$/.test(name))).toEqual([]);
    expect(config).toMatchObject({ data_folder: cli.folder, limits: { first_frame_ms: 300_000 } });
  });

  test('exits with 1 and prints the path of each problem', async () => {
    writeFileSync(join(cli.folder, 'tollgate.config.json'), '{"listen":{"port":"x"}}');
    expect(await cli.run(['config', 'check'])).toMatchObject({
      code: EXIT.no,
      err: expect.stringContaining('listen.port'),
    });
    const { out } = await cli.run(['config', 'check', '--json']);
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ path: 'listen.port' }] });
  });
});
