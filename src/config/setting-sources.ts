import type { ConfigProblem } from './problems.ts';

/** Where settings come from, by their path in the config file, like `listen.port`. Those at their default are absent. */
export type SettingSources = ReadonlyMap<string, string>;

/** The source of settings that the file gives. */
export const FROM_FILE = 'config file';

export type PlaceOfSetting = (path: string) => Pick<ConfigProblem, 'source' | 'path'>;

/** Where an operator changes a setting: its field in the file, or the flag or variable that overrides that. */
export function placeOf(setting: string, sources: SettingSources, file: string | null): ReturnType<PlaceOfSetting> {
  const source = sources.get(setting);
  const isInFile = source === FROM_FILE && file !== null;
  return isInFile ? { source: file, path: setting } : { source: source ?? setting, path: '' };
}

/** Flags of members of `listen`, and one that has another name in the file. */
const PATHS: Readonly<Record<string, string>> = {
  port: 'listen.port',
  host: 'listen.host',
  operations_host: 'listen.operations_host',
  operations_port: 'listen.operations_port',
  console_port: 'listen.console_port',
  sim: 'simulated_host',
};

/** The path in the file of the setting of a flag, whose name is in camel case. */
export function pathOfFlag(flag: string): string {
  const name = flag.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return PATHS[name] ?? name;
}

/** Every value that the file sets. Lists count as one value. */
export function pathsIn(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [prefix];
  return Object.entries(value).flatMap(([name, member]) => pathsIn(member, prefix === '' ? name : `${prefix}.${name}`));
}
