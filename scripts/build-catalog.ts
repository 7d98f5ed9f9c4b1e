/**
 * Generates data/catalog.json from two npm packages, which it downloads, and data/simulated.json beside it.
 *   npm run catalog:build              the versions named below
 *   npm run catalog:build -- --latest  the newest ones
 * Differences between the sources, and gaps in them, are reported on stderr.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hashRowPrices } from '../src/catalog/load.ts';
import { findNameClash } from '../src/catalog/rows.ts';
import { type CatalogFile, catalogFileSchema, type ModelRow } from '../src/catalog/schema.ts';
import { readFacts } from './catalog/facts-source.ts';
import { makeRow, type Sources } from './catalog/make-row.ts';
import { OFFERED_MODELS } from './catalog/offered-models.ts';
import type { PricePackage } from './catalog/price-source.ts';
import { SIMULATED, SIMULATED_SINCE } from './catalog/simulated.ts';

const PRICES = { name: '@pydantic/genai-prices', version: '0.1.8' };
const FACTS = { name: '@earendil-works/pi-ai', version: '1.5.0' };
const DATA = new URL('../data/', import.meta.url);

const report = (line: string): boolean => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-catalog-'));
  try {
    const sources = await openSources(folder);
    const rows = OFFERED_MODELS.map((offered) => makeRow(offered, sources)).filter((row) => row !== undefined);
    const named = [sources.pricesName, sources.factsName];
    write('catalog.json', catalogFile(rows, sources.today, named));
    write('simulated.json', catalogFile(SIMULATED, SIMULATED_SINCE, []));
    report(`${rows.length} of ${OFFERED_MODELS.length} models written.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function openSources(folder: string): Promise<Sources> {
  const prices = fetchPackage(folder, PRICES);
  const facts = fetchPackage(folder, FACTS);
  const module: unknown = await import(pathToFileURL(join(prices.folder, 'dist/index.js')).href);
  const hosts = new Set(OFFERED_MODELS.flatMap((offered) => Object.keys({ ...offered.hosts, ...offered.also })));
  return {
    prices: module as PricePackage,
    pricesName: { package: PRICES.name, version: prices.version },
    facts: readFacts(facts.folder, hosts),
    factsName: { package: FACTS.name, version: facts.version },
    today: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    firstListed: readFirstListed(),
    report,
  };
}

function fetchPackage(folder: string, wanted: { name: string; version: string }): { folder: string; version: string } {
  const version = process.argv.includes('--latest') ? 'latest' : wanted.version;
  const packed = execFileSync('npm', ['pack', '--silent', `${wanted.name}@${version}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  const unpacked = mkdtempSync(join(folder, 'package-'));
  execFileSync('tar', ['-xzf', join(folder, packed.trim()), '-C', unpacked, '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as { version: string };
  return { folder: unpacked, version: manifest.version };
}

/** A model keeps the day on which the catalog first listed it. */
function readFirstListed(): Map<string, number> {
  try {
    const old = JSON.parse(readFileSync(new URL('catalog.json', DATA), 'utf8')) as CatalogFile;
    return new Map(old.models.map((row) => [row.id, row.created ?? 0]));
  } catch {
    return new Map();
  }
}

function catalogFile(rows: readonly ModelRow[], generated: string, sources: CatalogFile['sources']): CatalogFile {
  const clash = findNameClash(rows);
  if (clash !== undefined) throw new Error(clash);
  const models = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return catalogFileSchema.parse({ version: `${generated}-${hashRowPrices(models)}`, generated, sources, models });
}

/** One model per line, so that changes are easy to review. */
function write(name: string, file: CatalogFile): void {
  const { models, ...head } = file;
  const opening = JSON.stringify(head, null, 2).replace(/\n}$/, ',\n  "models": [\n');
  const lines = models.map((row) => `    ${JSON.stringify(row)}`).join(',\n');
  writeFileSync(new URL(name, DATA), `${opening}${lines}\n  ]\n}\n`);
}

await main();
