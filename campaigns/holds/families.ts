import { buildCatalog, type Catalog } from '../../src/catalog/catalog.ts';
import { loadCatalogFile } from '../../src/catalog/load.ts';
import type { CatalogModel } from '../../src/catalog/model.ts';
import type { ModelRow } from '../../src/catalog/schema.ts';
import { LIMITS } from '../../src/limits.ts';
import { type Family, ownFamilies } from './quality.ts';
import { countAll, installTokenizers, TOKENIZERS } from './tokenizer-packages.ts';

/** The catalog with all its hosts configured, and these rows. */
export function wholeCatalog(added: readonly ModelRow[] = []): Catalog {
  const rows = [...loadCatalogFile().models, ...added];
  const hosts = new Set(rows.flatMap((model) => model.hosts.map(({ host }) => host)));
  return buildCatalog({ rows, hosts, version: '2026-01-01-x' });
}

export function modelOf(catalog: Catalog, name: string): CatalogModel | null {
  const found = catalog.resolve(name);
  return 'model' in found ? found.model : null;
}

/** Every tokenizer that the packages carry, with the factor of the model that it stands for. */
export async function loadFamilies(): Promise<Family[]> {
  installTokenizers();
  const catalog = wholeCatalog();
  let counts: ReturnType<typeof countAll> | null = null;
  const packaged = TOKENIZERS.map(({ name, model }): Family => {
    const known = modelOf(catalog, model);
    if (known === null) throw new Error(`The catalog has no ${model}, which ${name} stands for.`);
    return {
      name,
      model,
      factor: known.tokenFactor.factor,
      countAll: (texts) => {
        counts ??= countAll(texts);
        return counts.get(name)!;
      },
    };
  });
  return [...packaged, ...(await ownFamilies(LIMITS.tokenFactorDefault))];
}
