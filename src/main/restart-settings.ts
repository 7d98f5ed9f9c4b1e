import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import { ownKeyFile } from '../config/master-key.ts';
import { Secret } from '../kit/secret.ts';

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
  const isChanged = (name: keyof Config): boolean => !isDeepStrictEqual(revealed(started[name]), revealed(read[name]));
  const changed = names.filter((name) => !RELOADED.has(name) && isChanged(name)).map(nameInFile);
  return isSimulated(read) && !isSimulated(started) ? [...changed, 'simulated_host'] : changed;
}

/** Only a start begins the process that answers for the simulated host. */
function isSimulated({ hosts }: Config): boolean {
  return hosts.some(({ row }) => row.simulated);
}

/** The config as a reload uses it: in the same data folder, and so with the same key file, because another folder needs a restart. */
export function inSameFolder({ dataFolder }: Pick<Config, 'dataFolder'>, read: Config): Config {
  const masterKey = read.masterKey.kind === 'own-file' ? ownKeyFile(dataFolder) : read.masterKey;
  return { ...read, dataFolder, masterKey };
}

/** With the text of secrets, which are all equal as objects. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revealed(member)]));
}

function nameInFile(name: keyof Config): string {
  if (name === 'dataFolder') return 'data';
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
