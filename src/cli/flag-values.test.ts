import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { COMMANDS } from './all-commands.ts';
import type { CommandSpec } from './command.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

const MINT = ['keys', 'mint', '--account', 'ada'];

/** What is typed before the first argument, and the command. */
const COMMAND_LINES = COMMANDS.flatMap((each): [string, CommandSpec][] => {
  const group = 'commands' in each ? `${each.name} ` : '';
  const specs = 'commands' in each ? each.commands : [each];
  return specs.map((spec) => [`${group}${spec.name.split(' ', 1)[0]}`, spec]);
});

test.each(COMMAND_LINES)(
  '%s refuses a flag in the place of a value, by the name of the one that needs it',
  async (line, spec) => {
    const needsValue = (spec.options ?? []).filter(([flags]) => flags.includes('<'));
    for (const [flags] of [['--data <dir>'], ...needsValue]) {
      const flag = flags.split(' ', 1)[0]!;
      for (const rest of [['--json'], [], ['--', 'x']]) {
        const { code, out, err } = await cli.run([...line.split(' '), flag, ...rest]);
        expect({ code, out }).toEqual({ code: EXIT.usage, out: '' });
        expect(err).toBe(`error: ${flag} needs a value.\n(add --help to see the options)\n`);
      }
    }
  },
);

test('a value that begins with a dash is given after an equals sign', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  const refused = await cli.run([...MINT, '--name', '-x']);
  expect(refused.code).toBe(EXIT.usage);
  expect(refused.err).toContain('--name needs a value. A value that begins with a dash is written --name=VALUE.');
  expect(await cli.json([...MINT, '--name=-x'])).toMatchObject({ name: '-x' });
  expect(await cli.json([...MINT, '--name=--json', '--note', '-'])).toMatchObject({ name: '--json', note: '-' });
});

test('a flag that is given a value but takes none is refused as such', async () => {
  const { code, err } = await cli.run(['serve', '--hosted=true']);
  expect({ code, err }).toEqual({
    code: EXIT.usage,
    err: 'error: --hosted takes no value.\n(add --help to see the options)\n',
  });
});

test('options before the second word of a command are refused with the words that may follow the first', async () => {
  const { code, err } = await cli.run(['seal', '--data', 'd', 'status']);
  expect({ code, err }).toEqual({
    code: EXIT.usage,
    err: 'error: name a command of seal before its options: status, rotate.\n(add --help to see the options)\n',
  });
});

test('a negative amount is a value, not a flag', async () => {
  await cli.run(['accounts', 'create', 'ada', '--unlimited']);
  await cli.run(['accounts', 'credit', 'ada', '1']);
  expect(await cli.json(['accounts', 'credit', 'ada', '--nanousd', '-5'])).toMatchObject({
    balance_nanousd: 999_999_995,
  });
  expect((await cli.run([...MINT, '--cap', '-$1'])).err).toContain('--cap must be more than $0');
});

test('refuses --models all beside the names of models', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  for (const models of [
    ['--models', 'sim-gpt', '--models', 'all'],
    ['--models', 'all,sim-gpt'],
  ]) {
    const { code, err } = await cli.run([...MINT, ...models]);
    expect({ code, err }).toEqual({
      code: EXIT.usage,
      err: '--models must be "all" or a list of models, not both.\n',
    });
  }
  expect(await cli.json([...MINT, '--models', 'all', '--models', 'all'])).toMatchObject({ models: null });
});
