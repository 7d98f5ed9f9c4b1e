import { SETTINGS } from '../src/config/config.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';

const KNOWN_VARIABLES = new Set([
  ...SETTINGS.map(({ variable }) => variable),
  ...['TOLLGATE_CONFIG', 'TOLLGATE_MASTER_KEY', 'TOLLGATE_MASTER_KEY_FILE', 'TOLLGATE_MASTER_KEY_COMMAND'],
  ...HOST_ROWS.flatMap((row) => [...row.keyVariables, ...(row.address?.variables ?? [])]),
  'NODE_ENV',
  // Variables from which bin/launch.js, and Node itself, take the folder of compiled sources.
  'XDG_CACHE_HOME',
  'NODE_DISABLE_COMPILE_CACHE',
]);

/** Those of the given environment variables that the program does not read. */
export const unknownVariables = (names: readonly string[]): string[] =>
  names.filter((name) => !KNOWN_VARIABLES.has(name));
