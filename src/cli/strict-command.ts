import { Command, type ParseOptionsResult } from 'commander';

/** Begins with a dash, and is neither the dash alone nor a negative amount. */
const FLAG = /^-(?!$|\$?\.?\d)/;

/** Refuses a flag in the place of another flag's value. Commander would take `--name --json` as a key named `--json`. */
export class StrictCommand extends Command {
  override parseOptions(argv: string[]): ParseOptionsResult {
    for (let index = 0; index < argv.length && argv[index] !== '--'; index += 1) {
      const flag = argv[index]!;
      this.#refuseValueOfSwitch(flag);
      if (!this.options.some(({ long, required }) => required && long === flag)) continue;
      index += 1;
      if (FLAG.test(argv[index] ?? '-flag')) this.#refuse(flag, argv[index]);
    }
    return super.parseOptions(argv);
  }

  /** Commander would call `--hosted=true` an unknown option. */
  #refuseValueOfSwitch(argument: string): void {
    const [flag] = argument.split('=', 1);
    const takesNone = argument !== flag && this.options.some(({ long, required }) => !required && long === flag);
    if (takesNone) this.error(`error: ${flag} takes no value.`, { code: 'commander.excessArguments' });
  }

  #refuse(flag: string, next: string | undefined): never {
    const isMeantAsFlag = next === undefined || next === '--' || this.options.some(({ long }) => long === next);
    const remedy = isMeantAsFlag ? '' : ` A value that begins with a dash is written ${flag}=VALUE.`;
    this.error(`error: ${flag} needs a value.${remedy}`, { code: 'commander.optionMissingArgument' });
  }
}

/** Commands that share a first word, which the second one has to follow. */
export class GroupCommand extends Command {
  override parseOptions(argv: string[]): ParseOptionsResult {
    const [, next = ''] = this.parent?.args ?? [];
    if (next.startsWith('-') && !HELP.includes(next)) this.#refuse();
    return super.parseOptions(argv);
  }

  #refuse(): never {
    const names = this.commands.map((command) => command.name()).join(', ');
    this.error(`error: name a command of ${this.name()} before its options: ${names}.`, {
      code: 'commander.unknownOption',
    });
  }
}

const HELP = ['-h', '--help'];
