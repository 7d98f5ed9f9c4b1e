import { type ParseArgsConfig, parseArgs } from 'node:util';

/** `parseArgs` for benchmarks and campaigns: a flag that a command does not have ends it with the list of those that it has. */
export function readFlags<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [said] = (error as Error).message.split(/(?<=[^.])\. |\.?$/, 1);
    const flags = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    return wrongFlag(`${said}. The flags are ${flags.join(', ')}.`);
  }
}

export function wrongFlag(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
