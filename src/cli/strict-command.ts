import { Command, type ParseOptionsResult } from 'commander';

/** Begins with a dash, and is neither the dash alone nor a negative amount. */
const FLAG = /^-(?!$|\$?\.?\d)/;

/** Refuses a flag in the place of another flag's value. Commander would take `--name --json` as a key named `--json`. */
export class StrictCommand extends Command {
  override parseOptions(argv: string[]): ParseOptionsResult {
    for (let index = 0; index < argv.length && argv[index] !== '--'; index += 1) {
      const flag = argv[index]!;
      if (!this.options.some(({ long, required }) => required && long === flag)) continue;
      index += 1;
      if (FLAG.test(argv[index] ?? '-flag')) this.#refuse(flag, argv[index]);
    }
    return super.parseOptions(argv);
  }

  #refuse(flag: string, next: string | undefined): never {
    const isMeantAsFlag = next === undefined || next === '--' || this.options.some(({ long }) => long === next);
    const remedy = isMeantAsFlag ? '' : ` A value that begins with a dash is written ${flag}=VALUE.`;
    this.error(`error: ${flag} needs a value.${remedy}`, { code: 'commander.optionMissingArgument' });
  }
}
