import type { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';
import { GroupCommand, StrictCommand } from './strict-command.ts';

/** Its flags, like `--name <text>`, and what it means. If a list is typed several times, all its values count. */
type OptionSpec = readonly [flags: string, meaning: string, kind?: 'list'];

export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** A command that does something. Its help ends with an example. */
export interface CommandSpec {
  /** With its arguments, like `credit <account> [amount]`. */
  readonly name: string;
  readonly summary: string;
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly string[];
  run(session: Session, args: readonly string[], options: Options): Promise<ExitCode | number>;
}

/** Commands that share a first word, like `tollgate keys …`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandSpec[];
}

export type AnyCommand = CommandSpec | CommandGroup;

const COMMON_OPTIONS: readonly OptionSpec[] = [
  ['--data <dir>', 'data folder, which holds the ledger'],
  ['--store <url>', 'PostgreSQL database that holds the ledger instead'],
  ['--config <file>', 'config file, instead of ./tollgate.config.json'],
  ['--json', 'print JSON'],
];

function together(value: string, earlier: string | undefined): string {
  return earlier === undefined ? value : `${earlier},${value}`;
}

export type Perform = (spec: CommandSpec, command: Command, args: readonly string[]) => Promise<void>;

export function buildCommand(spec: CommandSpec, perform: Perform): Command {
  const [name = '', ...args] = spec.name.split(' ');
  const command = new StrictCommand(name).description(spec.summary).helpCommand(false);
  for (const arg of args) command.argument(arg);
  for (const [flags, meaning, kind] of [...(spec.options ?? []), ...COMMON_OPTIONS]) {
    if (kind === 'list') command.option<string>(flags, meaning, together);
    else command.option(flags, meaning);
  }
  command.addHelpText('after', examplesOf(spec.examples));
  return command.action(() => perform(spec, command, command.args));
}

/** Without `perform`, only its name and summary, for a list of the commands. */
export function buildGroup(group: CommandGroup, perform: Perform | null): Command {
  const command = new GroupCommand(group.name).description(group.summary).helpCommand(false);
  if (perform === null) return command;
  for (const spec of group.commands) command.addCommand(buildCommand(spec, perform));
  const [first] = group.commands.flatMap(({ examples }) => examples);
  const examples = examplesOf(first === undefined ? [] : [first]);
  return command.addHelpText('after', `${examples}\nRun "tollgate ${group.name} <command> --help" for its options.\n`);
}

function examplesOf(examples: readonly string[]): string {
  return `\nExample${examples.length > 1 ? 's' : ''}:\n${examples.map(indent).join('')}`;
}

function indent(example: string): string {
  return `  $ ${example}\n`;
}
