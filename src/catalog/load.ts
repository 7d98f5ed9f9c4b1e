import { readFileSync } from 'node:fs';
import { parseJson } from '../json/json.ts';
import { hashPrices } from './price-version.ts';
import { CatalogError, readPrice } from './rows.ts';
import type { CatalogFile, ModelRow } from './schema.ts';

/** The built-in models, each with the source and date of its price. */
export function loadCatalogFile(): CatalogFile {
  return load('catalog.json');
}

/** The models of the simulated upstream. */
export function loadSimulatedFile(): CatalogFile {
  return load('simulated.json');
}

/** Read once in each process: they come with the program, and a start needs them several times. */
const files = new Map<string, CatalogFile>();

function load(name: string): CatalogFile {
  const loaded = files.get(name);
  if (loaded !== undefined) return loaded;
  const text = readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8');
  const file = readCatalogFile(`data/${name}`, text);
  files.set(name, file);
  return file;
}

/** The file was validated when it was generated; loading the schema here would dominate the start time. */
export function readCatalogFile(name: string, text: string): CatalogFile {
  const file = parseJson(text) as CatalogFile;
  if (!file.version.endsWith(`-${hashRowPrices(file.models)}`)) {
    throw new CatalogError(
      `The prices in ${name} were changed: they do not match its version, ${file.version}. ` +
        'Put your own prices into the config file, or generate the file again with "npm run catalog:build".',
    );
  }
  return file;
}

/** Every row of these files has a price. */
export function hashRowPrices(rows: readonly ModelRow[]): string {
  return hashPrices(
    rows.map((row) => {
      if (row.price === undefined) throw new CatalogError(`${row.id} has no price.`);
      return [row.id, readPrice(row.price)] as const;
    }),
  );
}
