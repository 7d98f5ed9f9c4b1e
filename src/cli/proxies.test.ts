import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';

let cli: CliFixture;

beforeEach(() => {
  cli = new CliFixture();
});

afterEach(() => cli.remove());

test.each([[['config', 'check']], [['config', 'check', '--json']], [['doctor']], [['doctor', '--json']]])(
  '%s shows which host goes through which proxy, and never its password',
  async (command) => {
    const file = { hosts: [{ name: 'own', base_url: 'https://own.example/v1' }] };
    writeFileSync(join(cli.folder, 'tollgate.config.json'), JSON.stringify(file));
    const { out } = await cli.run(command, { HTTPS_PROXY: 'http://user:hunter2@proxy.example:3128' });
    expect(out).toContain('http://proxy.example:3128');
    expect(out).toContain('HTTPS_PROXY');
    expect(out).not.toContain('hunter2');
  },
);
