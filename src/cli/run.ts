import { Command } from 'commander';
import type { Environment } from '../config/config.ts';
import { accountsBranch } from './commands/accounts.ts';
import { balanceLeaf } from './commands/balance.ts';
import { configBranch } from './commands/config.ts';
import { doctorLeaf } from './commands/doctor.ts';
import { keysBranch } from './commands/keys.ts';
import { ledgerBranch } from './commands/ledger.ts';
import { modelsLeaf } from './commands/models.ts';
import { receiptsBranch } from './commands/receipts.ts';
import { sealBranch } from './commands/seal.ts';
import { serveLeaf } from './commands/serve.ts';
import { storeBranch } from './commands/store.ts';
import type { Composition } from './composition.ts';
import { EXIT } from './exit-codes.ts';
import { asFailure, type CliFailure, exitOfCommander } from './failure.ts';
import { type Branch, buildBranch, buildLeaf, type Leaf, type Perform } from './leaf.ts';
import { Session } from './session.ts';
import { packageVersion } from './version.ts';

export const COMMANDS: readonly (Leaf | Branch)[] = [
  serveLeaf,
  accountsBranch,
  keysBranch,
  modelsLeaf,
  balanceLeaf,
  receiptsBranch,
  ledgerBranch,
  storeBranch,
  sealBranch,
  doctorLeaf,
  configBranch,
];

/** Carries out one command line (without the program's own name); the answer is the exit code. */
export async function runCli(argv: readonly string[], env: Environment, composition: Composition): Promise<number> {
  let exitCode: number = EXIT.ok;
  const perform: Perform = async (leaf, command, args) => {
    const session = new Session(composition, env, command);
    try {
      exitCode = await leaf.run(session, args, command.opts());
    } catch (error) {
      const failure = asFailure(error);
      exitCode = failure.exitCode;
      session.say(describeFailure(failure, session.json));
    }
  };
  try {
    await buildProgram(composition, perform).parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    const code = exitOfCommander(error);
    if (code === null) throw error;
    return code;
  }
}

function buildProgram(composition: Composition, perform: Perform): Command {
  const program = new Command('tollgate')
    .description(
      'A metered gateway for language-model calls: one key, one base URL, an exact receipt on every response.',
    )
    .version(packageVersion(), '--version')
    .addHelpText(
      'after',
      '\nExample:\n  $ tollgate serve\n\n"tollgate <command> --help" says more; docs/cli.md has the exit codes.\n',
    );
  for (const command of COMMANDS) {
    program.addCommand('leaves' in command ? buildBranch(command, perform) : buildLeaf(command, perform));
  }
  return withOutput(program, composition);
}

/** Commander copies these settings only to commands made after them, so they are set on each. */
function withOutput(command: Command, composition: Composition): Command {
  const { writeOut, writeErr } = composition.terminal;
  command
    .exitOverride()
    .configureOutput({ writeOut, writeErr })
    .showHelpAfterError('(add --help for what is possible)');
  for (const child of command.commands) withOutput(child, composition);
  return command;
}

function describeFailure({ message, hint, exitCode }: CliFailure, json: boolean): string {
  if (json) return JSON.stringify({ error: { message, hint, exit_code: exitCode } });
  return hint === null ? message : `${message}\nTry: ${hint}`;
}
