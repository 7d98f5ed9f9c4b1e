import { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** A command that does something; its help always ends with an example. */
export interface Leaf {
  /** With its arguments, as `credit <account> [amount]`. */
  readonly name: string;
  readonly summary: string;
  readonly options?: readonly (readonly [flags: string, meaning: string])[];
  readonly examples: readonly string[];
  run(session: Session, args: readonly string[], options: Options): Promise<ExitCode | number>;
}

/** Commands under one noun, as `tollgate keys …`. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly leaves: readonly Leaf[];
}

const COMMON_OPTIONS = [
  ['--data <dir>', 'folder of the books'],
  ['--store <url>', 'PostgreSQL that has the books, instead of the folder'],
  ['--config <file>', 'config file, instead of ./tollgate.config.json'],
  ['--json', 'answer in JSON'],
] as const;

export type Perform = (leaf: Leaf, command: Command, args: readonly string[]) => Promise<void>;

export function buildLeaf(leaf: Leaf, perform: Perform): Command {
  const [name = '', ...args] = leaf.name.split(' ');
  const command = new Command(name).description(leaf.summary).helpCommand(false);
  for (const arg of args) command.argument(arg);
  for (const [flags, meaning] of [...(leaf.options ?? []), ...COMMON_OPTIONS]) command.option(flags, meaning);
  command.addHelpText(
    'after',
    `\nExample${leaf.examples.length > 1 ? 's' : ''}:\n${leaf.examples.map(indent).join('')}`,
  );
  return command.action(() => perform(leaf, command, command.args));
}

export function buildBranch(branch: Branch, perform: Perform): Command {
  const command = new Command(branch.name).description(branch.summary).helpCommand(false);
  for (const leaf of branch.leaves) command.addCommand(buildLeaf(leaf, perform));
  return command;
}

function indent(example: string): string {
  return `  $ ${example}\n`;
}
