import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';

/** What a reload uses, and what is not a setting. */
const RELOADED: ReadonlySet<string> = new Set([
  'file',
  'hosts',
  'guessedHosts',
  'hostsWithoutKey',
  'models',
  'prices',
  'defaultModel',
  'masterKey',
  'settingSources',
  'unknownVariables',
] satisfies (keyof Config)[]);

/** The settings, by their names in the config file, that have changed since the start and that only a restart uses. */
export function changesForRestart(started: Config, read: Config): string[] {
  const names = Object.keys(started) as (keyof Config)[];
  return names.filter((name) => !RELOADED.has(name) && !isDeepStrictEqual(started[name], read[name])).map(nameInFile);
}

function nameInFile(name: keyof Config): string {
  if (name === 'dataFolder') return 'data';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
