import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from './all-commands.ts';

const PAGE = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');

test.each(COMMANDS.flatMap((command) => ('commands' in command ? command.commands : [command])))(
  'docs/cli.md names every option of $name',
  ({ options = [] }) => {
    const flags = options.map(([flag]) => flag.split(' ', 1)[0]!);
    expect(flags.filter((flag) => !new RegExp(`${flag}(?![a-z-])`).test(PAGE))).toEqual([]);
  },
);
