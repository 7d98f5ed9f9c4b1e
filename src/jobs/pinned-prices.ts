import type { Catalog } from '../catalog/catalog.ts';
import type { PricedCatalog } from '../gateway/gateway.ts';
import { LIMITS } from '../limits.ts';
import type { JobStore } from '../store/jobs.ts';
import type { Store } from '../store/store.ts';

interface PriceStore extends Pick<Store, 'registerPrices'> {
  readonly jobs: Pick<JobStore, 'priceList'>;
}

/** Jobs are priced by the list that was in force when they were accepted. */
export class PinnedPrices {
  readonly #store: PriceStore;
  readonly #inForce: () => PricedCatalog;
  /** The catalog in force to which the remembered prices belong. */
  #of: Catalog | null = null;
  readonly #pinned = new Map<string, PricedCatalog>();

  constructor(store: PriceStore, inForce: () => PricedCatalog) {
    this.#store = store;
    this.#inForce = inForce;
  }

  /** Price lists that are remembered. */
  get size(): number {
    return this.#pinned.size;
  }

  /** Today's models and hosts at the prices of that version. */
  async at(version: string): Promise<PricedCatalog> {
    const inForce = this.#inForce();
    const { catalog } = inForce;
    if (catalog.priceVersion === version) return inForce;
    if (this.#of !== catalog) {
      this.#of = catalog;
      this.#pinned.clear();
    }
    const known = this.#pinned.get(version);
    if (known !== undefined) return known;
    const json = await this.#store.jobs.priceList(version);
    if (json === null) throw new Error(`The price list ${version} is not in the store.`);
    const pinned = {
      catalog: catalog.pricedBy({ version, json }),
      priceId: await this.#store.registerPrices(version, json),
    };
    if (this.#of !== catalog) return pinned;
    if (this.#pinned.size >= LIMITS.jobPriceListsKept) this.#pinned.delete(this.#pinned.keys().next().value!);
    this.#pinned.set(version, pinned);
    return pinned;
  }
}
