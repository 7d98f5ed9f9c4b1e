import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCatalogFile, readCatalogFile } from './load.ts';
import { CatalogError } from './rows.ts';
import type { CatalogFile, ModelRow } from './schema.ts';

/** A catalog in use, and where it came from. */
interface CatalogInForce {
  readonly file: CatalogFile;
  readonly origin: 'built-in' | 'installed';
  /** A catalog that was installed and is older than the built-in one, so that it is not used; null if there is none. */
  readonly outdated: string | null;
}

/** Where `tollgate catalog update` puts a catalog. */
export function installedCatalogPath(dataFolder: string): string {
  return join(dataFolder, 'catalog.json');
}

/** The installed catalog, unless this version of the program came with a later one. */
export function loadCatalogInForce(dataFolder: string): CatalogInForce {
  const builtIn = loadCatalogFile();
  const installed = readInstalled(installedCatalogPath(dataFolder));
  if (installed === null) return { file: builtIn, origin: 'built-in', outdated: null };
  if (installed.generated < builtIn.generated)
    return { file: builtIn, origin: 'built-in', outdated: installed.version };
  return { file: installed, origin: 'installed', outdated: null };
}

function readInstalled(path: string): CatalogFile | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return null;
    throw new CatalogError(`Cannot read ${path} (${code}). Check its owner and permissions.`);
  }
  try {
    return readCatalogFile(path, text);
  } catch {
    throw new CatalogError(
      `${path} is damaged or was changed. Install it again with "tollgate catalog update", or remove it with "tollgate catalog reset".`,
    );
  }
}

/** Its models, to check settings by. With a damaged file those of the built-in catalog, so that commands can still repair it. */
export function modelsInForce(dataFolder: string): readonly ModelRow[] {
  try {
    return loadCatalogInForce(dataFolder).file.models;
  } catch (error) {
    if (error instanceof CatalogError) return loadCatalogFile().models;
    throw error;
  }
}
