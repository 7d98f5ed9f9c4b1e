import { type ParseArgsConfig, parseArgs } from 'node:util';

/** `parseArgs` for benchmarks and campaigns. After a wrong flag it names the known ones and ends the process. */
export function readFlags<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!isWrongFlag(error)) throw error;
    const [said] = error.message.split(/\.?\n|\. (?=[A-Z])|\.$/, 1);
    const flags = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    return refuseFlag(`${said}. The flags are ${flags.join(', ')}.`);
  }
}

function isWrongFlag(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
}

/** Says what is wrong in one line, and ends the process. */
export function refuseFlag(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
