import { buildCatalog, type Catalog } from '../catalog/catalog.ts';
import { loadCatalogInForce } from '../catalog/installed.ts';
import { loadSimulatedFile } from '../catalog/load.ts';
import { mergeRows, overridePrices } from '../catalog/rows.ts';
import type { Config } from '../config/config.ts';
import type { PricedCatalog } from '../gateway/gateway.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { addServedModels } from '../hosts/served-models.ts';
import type { Store } from '../store/store.ts';

/** The models that the configured hosts serve: the catalog in use, plus the operator's models and prices. */
export function catalogFor(config: Config, hosts: readonly ConfiguredHost[]): Catalog {
  const { file } = loadCatalogInForce(config.dataFolder);
  const rows = mergeRows([...file.models, ...loadSimulatedFile().models], config.models);
  return buildCatalog({
    rows: overridePrices(addServedModels(rows, hosts), config.prices),
    hosts: new Set(hosts.map(({ row }) => row.name)),
    hostWires: new Map(hosts.map(({ row }) => [row.name, row.wires])),
    localHosts: new Set(hosts.filter(({ local }) => local).map(({ row }) => row.name)),
    simulatedHosts: new Set(hosts.filter(({ row }) => row.simulated).map(({ row }) => row.name)),
    defaultModel: config.defaultModel,
    version: file.version,
  });
}

/** Stores the price list, to which holds will refer. */
export async function rememberPrices(store: Store, catalog: Catalog): Promise<PricedCatalog> {
  return { catalog, priceId: await store.registerPrices(catalog.priceVersion, catalog.pricesJson) };
}
