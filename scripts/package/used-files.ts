import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';

function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module;
  const exported = staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? []));
  const asked = dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1));
  return [...staticImports.map(({ moduleRequest }) => moduleRequest.value), ...exported, ...asked];
}

/** The modules of a package that files of ours import, like `encoding/o200k_base`. */
export function importedModules(files: readonly string[], name: string): string[] {
  const found = files.flatMap(importsOf).filter((module) => module.startsWith(`${name}/`));
  return [...new Set(found)].map((module) => module.slice(name.length + 1)).sort();
}

/** The packages that files import, and modules of Node, by name. */
export function importedPackages(files: readonly string[]): string[] {
  const names = files.flatMap(importsOf).filter((module) => !module.startsWith('.'));
  const nameOf = (module: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(module)![0];
  return [...new Set(names.map((module) => (module.startsWith('node:') ? module : nameOf(module))))].sort();
}

/** Files of a package, from its folder, that the given ones import, directly or by way of others. */
export function usedFiles(folder: string, entries: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const name of importsOf(join(folder, path)))
      if (name.startsWith('.')) add(normalize(join(dirname(path), name)));
  };
  for (const entry of entries) add(entry);
  return [...found].sort();
}
