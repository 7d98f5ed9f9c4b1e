import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { COMMANDS } from './all-commands.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

const COMMAND_NAMES = [
  ['serve'],
  ...[
    ['accounts', 'create'],
    ['accounts', 'list'],
    ['accounts', 'credit'],
    ['accounts', 'entries'],
  ],
  ...[
    ['keys', 'mint'],
    ['keys', 'list'],
    ['keys', 'show'],
    ['keys', 'update'],
    ['keys', 'rotate'],
    ['keys', 'disable'],
    ['keys', 'enable'],
    ['keys', 'revoke'],
  ],
  ...[
    ['models'],
    ['balance'],
    ['receipts', 'show'],
    ['receipts', 'list'],
    ['receipts', 'refund'],
    ['ledger', 'verify'],
    ['doctor'],
  ],
  ['config', 'check'],
];

describe('help', () => {
  test.each(COMMAND_NAMES)('of %s %s comes on stdout, with --json, --data and an example', async (...names) => {
    const { code, out, err } = await cli.run([...names, '--help']);
    expect({ code, err }).toEqual({ code: EXIT.ok, err: '' });
    for (const part of ['--json', '--data', 'Example', `$ `, `tollgate ${names.join(' ')}`])
      expect(out).toContain(part);
  });

  test('names every command, and the version is the package’s', async () => {
    const { out } = await cli.run(['--help']);
    for (const [name = ''] of COMMAND_NAMES) expect(out).toContain(`\n  ${name}`);
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await cli.run(['--version'])).toEqual({ code: EXIT.ok, out: `${version}\n`, err: '' });
  });
});

describe('help for a command', () => {
  test.each([[['help', 'keys']], [['help', 'serve']], [['help']], [['keys', '--help']]])(
    '%j is an answer',
    async (args) => {
      expect(await cli.run(args)).toMatchObject({ code: EXIT.ok, out: expect.stringContaining('Usage: tollgate') });
    },
  );

  test('is that of the whole command that was named', async () => {
    const { code, out } = await cli.run(['help', 'jobs', 'submit']);
    expect({ code, out }).toMatchObject({ code: EXIT.ok, out: expect.stringContaining('tollgate jobs submit') });
    expect(out).toContain('--wait');
  });

  test.each(COMMANDS.filter((command) => 'commands' in command).map(({ name }) => name))(
    'of the commands of %s ends with an example, and with how to see their options',
    async (name) => {
      const { out } = await cli.run([name, '--help']);
      expect(out).toMatch(
        new RegExp(`\\nExample:\\n {2}\\$ .*tollgate ${name} .*\\n\\nRun "tollgate ${name} <command> --help"`),
      );
    },
  );

  test('is an error if it is shown because the command is missing', async () => {
    expect(await cli.run(['keys'])).toMatchObject({ code: EXIT.usage, out: '' });
  });
});
