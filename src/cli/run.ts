import { Command } from 'commander';
import type { Environment } from '../config/config.ts';
import { type AnyCommand, buildCommand, buildGroup, type Perform } from './command.ts';
import { serveCommand } from './commands/serve.ts';
import type { Composition } from './composition.ts';
import { EXIT } from './exit-codes.ts';
import { asFailure, type CliFailure, exitOfCommander } from './failure.ts';
import { Session } from './session.ts';
import { packageVersion } from './version.ts';

/** Runs one command line, without the program's name; resolves to the exit code. */
export async function runCli(argv: readonly string[], env: Environment, composition: Composition): Promise<number> {
  let exitCode: number = EXIT.ok;
  const perform: Perform = async (spec, command, args) => {
    const session = new Session(composition, env, command);
    try {
      exitCode = await spec.run(session, args, command.opts());
    } catch (error) {
      const failure = asFailure(
        error,
        command.options.map(({ long }) => long ?? ''),
      );
      exitCode = failure.exitCode;
      session.say(describeFailure(failure, session));
    }
  };
  try {
    const typed = withCommand(argv);
    const commands = await commandsFor(typed);
    const advice = hasCommand(argv) ? ADVICE : SERVE_ADVICE;
    await buildProgram({ commands, typed, advice, composition, perform }).parseAsync(typed, { from: 'user' });
    return exitCode;
  } catch (error) {
    const code = exitOfCommander(error);
    if (code === null) throw error;
    return code;
  }
}

/** What follows an error of Commander. */
const ADVICE = '(add --help to see the options)';
/** For `tollgate --json models`, which is read as an argument of serve. */
const SERVE_ADVICE =
  '(Write a command before its options. Without one, this is tollgate serve; add --help to see its options)';

/** Flags of the program itself; any other flag without a command is one of `serve`. */
const OWN_FLAGS = ['-h', '--help', '--version'];

/** Without a command the gateway is started, so that `npx tollgate` is enough. */
function withCommand(argv: readonly string[]): string[] {
  const [first, ...rest] = argv;
  // Commander would show the help of `jobs` for `help jobs submit`.
  if (first === 'help' && rest.length > 1) return [...rest, '--help'];
  return hasCommand(argv) ? [...argv] : ['serve', ...argv];
}

function hasCommand([first]: readonly string[]): boolean {
  return first !== undefined && (!first.startsWith('-') || OWN_FLAGS.includes(first));
}

/** A gateway runs for long, and the other commands would stay in its memory. */
async function commandsFor([name]: readonly string[]): Promise<readonly AnyCommand[]> {
  if (name === serveCommand.name) return [serveCommand];
  return (await import('./all-commands.ts')).COMMANDS;
}

interface ProgramTerms {
  readonly commands: readonly AnyCommand[];
  readonly typed: readonly string[];
  readonly advice: string;
  readonly composition: Composition;
  readonly perform: Perform;
}

function buildProgram({ commands, typed, advice, composition, perform }: ProgramTerms): Command {
  const program = new Command('tollgate')
    .description(
      'A metered gateway for language-model calls: one key, one base URL, an exact receipt on every response.',
    )
    .version(packageVersion(), '--version')
    .addHelpText(
      'after',
      '\nWithout a command, tollgate runs serve.\n\nExample:\n  $ tollgate serve\n\nRun "tollgate <command> --help" for more. docs/cli.md lists the exit codes.\n',
    );
  for (const command of commands) {
    // Building a command takes longer than most of them run, so the groups that were not typed stay empty.
    if (!('commands' in command)) program.addCommand(buildCommand(command, perform));
    else program.addCommand(buildGroup(command, typed.includes(command.name) ? perform : null));
  }
  return withOutput(program, composition, advice);
}

/** Commander copies these settings only to commands created later, so set them on each. */
function withOutput(command: Command, composition: Composition, advice: string): Command {
  const { writeOut, writeErr } = composition.terminal;
  command.exitOverride().configureOutput({ writeOut, writeErr }).showHelpAfterError(advice);
  for (const child of command.commands) withOutput(child, composition, advice);
  return command;
}

function describeFailure({ message, hint, exitCode }: CliFailure, session: Session): string {
  if (!session.json) return hint === null ? message : `${message}\nTry: ${hint}`;
  return JSON.stringify({ error: { message, hint: hint && session.asTyped(hint), exit_code: exitCode } });
}
