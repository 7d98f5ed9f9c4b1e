import { KNOWN_VARIABLES as OWN_VARIABLES } from '../src/config/config.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';

const KNOWN_VARIABLES = new Set([
  ...OWN_VARIABLES,
  ...HOST_ROWS.flatMap((row) => [...row.keyVariables, ...(row.address?.variables ?? [])]),
  'NODE_ENV',
  // Variables from which bin/launch.js, and Node itself, take the folder of compiled sources.
  'XDG_CACHE_HOME',
  'NODE_DISABLE_COMPILE_CACHE',
]);

/** Those of the given environment variables that the program does not read. */
export const unknownVariables = (names: readonly string[]): string[] =>
  names.filter((name) => !KNOWN_VARIABLES.has(name));
