import { Command } from 'commander';
import type { Environment } from '../config/config.ts';
import { buildCommand, buildGroup, type CommandGroup, type CommandSpec, type Perform } from './command.ts';
import { accountsCommands } from './commands/accounts.ts';
import { alertsCommands } from './commands/alerts.ts';
import { auditCommands } from './commands/audit.ts';
import { balanceCommand } from './commands/balance.ts';
import { catalogCommands } from './commands/catalog.ts';
import { configCommands } from './commands/config.ts';
import { doctorCommand } from './commands/doctor.ts';
import { jobsCommands } from './commands/jobs.ts';
import { keysCommands } from './commands/keys.ts';
import { ledgerCommands } from './commands/ledger.ts';
import { managementKeysCommands } from './commands/management-keys.ts';
import { modelsCommand } from './commands/models.ts';
import { peopleCommands } from './commands/people.ts';
import { receiptsCommands } from './commands/receipts.ts';
import { sealCommands } from './commands/seal.ts';
import { serveCommand } from './commands/serve.ts';
import { setupCommand } from './commands/setup.ts';
import { storeCommands } from './commands/store.ts';
import { usageCommand } from './commands/usage.ts';
import { webhooksCommands } from './commands/webhooks.ts';
import type { Composition } from './composition.ts';
import { EXIT } from './exit-codes.ts';
import { asFailure, type CliFailure, exitOfCommander } from './failure.ts';
import { Session } from './session.ts';
import { packageVersion } from './version.ts';

export const COMMANDS: readonly (CommandSpec | CommandGroup)[] = [
  serveCommand,
  accountsCommands,
  keysCommands,
  modelsCommand,
  balanceCommand,
  receiptsCommands,
  usageCommand,
  peopleCommands,
  managementKeysCommands,
  alertsCommands,
  webhooksCommands,
  jobsCommands,
  auditCommands,
  ledgerCommands,
  storeCommands,
  sealCommands,
  doctorCommand,
  configCommands,
  catalogCommands,
  setupCommand,
];

/** Runs one command line, without the program's name; resolves to the exit code. */
export async function runCli(argv: readonly string[], env: Environment, composition: Composition): Promise<number> {
  let exitCode: number = EXIT.ok;
  const perform: Perform = async (spec, command, args) => {
    const session = new Session(composition, env, command);
    try {
      exitCode = await spec.run(session, args, command.opts());
    } catch (error) {
      const failure = asFailure(error);
      exitCode = failure.exitCode;
      session.say(describeFailure(failure, session));
    }
  };
  try {
    const typed = withCommand(argv);
    await buildProgram(typed, composition, perform).parseAsync(typed, { from: 'user' });
    return exitCode;
  } catch (error) {
    const code = exitOfCommander(error);
    if (code === null) throw error;
    return code;
  }
}

/** Flags of the program itself; any other flag without a command is one of `serve`. */
const OWN_FLAGS = ['-h', '--help', '--version'];

/** Without a command the gateway is started, so that `npx tollgate` is enough. */
function withCommand(argv: readonly string[]): string[] {
  const [first] = argv;
  const isServe = first === undefined || (first.startsWith('-') && !OWN_FLAGS.includes(first));
  return isServe ? ['serve', ...argv] : [...argv];
}

function buildProgram(argv: readonly string[], composition: Composition, perform: Perform): Command {
  const program = new Command('tollgate')
    .description(
      'A metered gateway for language-model calls: one key, one base URL, an exact receipt on every response.',
    )
    .version(packageVersion(), '--version')
    .addHelpText(
      'after',
      '\nWithout a command, tollgate runs serve.\n\nExample:\n  $ tollgate serve\n\nRun "tollgate <command> --help" for more. docs/cli.md lists the exit codes.\n',
    );
  for (const command of COMMANDS) {
    // Building a command takes longer than most of them run, so the groups that were not typed stay empty.
    if (!('commands' in command)) program.addCommand(buildCommand(command, perform));
    else program.addCommand(buildGroup(command, argv.includes(command.name) ? perform : null));
  }
  return withOutput(program, composition);
}

/** Commander copies these settings only to commands created later, so set them on each. */
function withOutput(command: Command, composition: Composition): Command {
  const { writeOut, writeErr } = composition.terminal;
  command.exitOverride().configureOutput({ writeOut, writeErr }).showHelpAfterError('(add --help to see the options)');
  for (const child of command.commands) withOutput(child, composition);
  return command;
}

function describeFailure({ message, hint, exitCode }: CliFailure, session: Session): string {
  if (!session.json) return hint === null ? message : `${message}\nTry: ${hint}`;
  return JSON.stringify({ error: { message, hint: hint && session.asTyped(hint), exit_code: exitCode } });
}
