import { dirname, join, normalize } from 'node:path';
import type { SourceFile } from './source-files.ts';

interface Names {
  /** What the file exports by name, as `path name`. */
  readonly exported: readonly string[];
  /** What it uses of other files, as `path name`; `path *` for everything in one. */
  readonly used: readonly string[];
}

export function namesOf({ path, text, module }: SourceFile): Names {
  const exported: string[] = [];
  const used: string[] = [];
  const use = (specifier: string, name: string | null | undefined): void => {
    if (specifier.startsWith('.')) used.push(`${normalize(join(dirname(path), specifier))} ${name ?? '*'}`);
  };
  for (const { moduleRequest, entries } of module.staticImports) {
    for (const { importName } of entries) use(moduleRequest.value, importName.name);
  }
  for (const { entries } of module.staticExports) {
    for (const { moduleRequest, importName, exportName } of entries) {
      if (exportName.kind === 'Name') exported.push(`${path} ${exportName.name}`);
      if (moduleRequest !== null) use(moduleRequest.value, importName.name);
    }
  }
  // `import('…')` gives a whole module, and as a type it is not in the record of the module.
  for (const [, specifier] of text.matchAll(/\bimport\(\s*['"`]([^'"`]+)['"`]/g)) use(specifier!, null);
  return { exported, used };
}

/** What the files export although no other file uses it, as `path name`. */
export function unusedExports(files: readonly Names[]): string[] {
  const used = new Set(files.flatMap((file) => file.used));
  const isUsed = (name: string): boolean => used.has(name) || used.has(`${name.split(' ')[0]} *`);
  return files.flatMap(({ exported }) => exported.filter((name) => !isUsed(name)));
}
