import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The package.json of the repository, as far as the package takes something from it. */
interface RepositoryManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

export interface PackageManifest extends RepositoryManifest {
  readonly bundleDependencies: readonly string[];
}

/** One package in a lock file. */
interface LockEntry {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Brings the right Node to a clone; a package runs on the Node that it is installed with. */
const ONLY_IN_A_CLONE = 'node';
/**
 * Packed with our own files: its 27 MB have every table in four forms, and we read two tables in one form. What we leave out is
 * missing, what we take is unchanged.
 */
export const BUNDLED = 'gpt-tokenizer';

const MODULES = 'node_modules/';

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/**
 * Its own package.json: no development dependencies, no scripts, no workspaces. It names every package that it needs, also by way of
 * others, with its exact version, so that everybody installs what was tested. npm no longer reads a lock file in a package.
 */
export function packageManifest(root: string): PackageManifest {
  const { name, version, description, license, type, bin, engines, dependencies } = readJson(
    join(root, 'package.json'),
  ) as RepositoryManifest;
  const direct = Object.keys(dependencies).filter((dependency) => dependency !== ONLY_IN_A_CLONE);
  const pinned = [...productionEntries(root, direct)].flatMap(([path, entry]) =>
    // A second version of a package stands below the one that needs it, and only that one asks for it.
    path.lastIndexOf(MODULES) === 0 ? [[path.slice(MODULES.length), entry.version] as const] : [],
  );
  const common = { name, version, description, license, type, bin, engines };
  return { ...common, dependencies: Object.fromEntries(pinned), bundleDependencies: [BUNDLED] };
}

/** The installed packages that the package needs, directly or by way of others, by their path in the lock file. */
export function productionEntries(root: string, dependencies: readonly string[]): Map<string, LockEntry> {
  const { packages } = readJson(join(root, 'package-lock.json')) as { packages: Record<string, LockEntry> };
  const found = new Map<string, LockEntry>();
  const add = (name: string, from: string, isOptional: boolean): void => {
    const path = resolvedPath(packages, name, from);
    if (path === null && isOptional) return;
    if (path === null) throw new Error(`package-lock.json has no ${name}, which ${from || 'the package'} needs.`);
    if (found.has(path)) return;
    const entry = packages[path]!;
    found.set(path, entry);
    for (const next of Object.keys(entry.dependencies ?? {})) add(next, path, false);
    for (const next of Object.keys(entry.optionalDependencies ?? {})) add(next, path, true);
    for (const next of Object.keys(entry.peerDependencies ?? {}))
      if (entry.peerDependenciesMeta?.[next]?.optional !== true) add(next, path, false);
  };
  for (const name of dependencies) add(name, '', false);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** As Node looks for packages: beside the one that needs it, then further up. */
function resolvedPath(packages: Readonly<Record<string, LockEntry>>, name: string, from: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return null;
  }
}
