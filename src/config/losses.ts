import { describeLoss, findLoss, type Loss } from '../catalog/loss.ts';
import { readPrice } from '../catalog/rows.ts';
import type { ModelRow, PriceRow } from '../catalog/schema.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import type { CatalogRows } from './models.ts';
import type { ConfigProblem } from './problems.ts';
import type { ConfigFile } from './schema.ts';

/** What a host charges for a model, and which field of the file that comes from. */
interface Offer {
  readonly path: string;
  readonly host: string;
  readonly model: string;
  readonly price: PriceRow;
  readonly allowLoss: boolean;
}

/** Hosts that charge more than callers pay, unless the file allows it. */
export function lossProblems(
  draft: ConfigFile,
  catalog: CatalogRows,
  configured: readonly ConfiguredHost[],
  source: string,
): ConfigProblem[] {
  const books = new PriceBook(draft, catalog, configured);
  return [...ownPlaces(draft), ...listedModels(draft), ...books.undercutPlaces()].flatMap((offer) => {
    const paid = books.callersPay(offer);
    const loss = offer.allowLoss || paid === null ? null : findLoss(readPrice(offer.price), readPrice(paid));
    return loss === null ? [] : [{ source, path: offer.path, message: describe(offer, loss) }];
  });
}

function describe({ host, model }: Offer, loss: Loss): string {
  return `"${host}" ${describeLoss(loss, model)}; set a higher price, or "allow_loss": true`;
}

/** Prices that models of the file give for their hosts. */
function ownPlaces(draft: ConfigFile): Offer[] {
  return draft.models.flatMap((row, at) =>
    row.hosts.flatMap(({ host, price, allow_loss: allowed }, place) => {
      const allowLoss = allowed ?? entryOf(draft, host)?.allow_loss ?? false;
      const path = `models[${at}].hosts[${place}].price`;
      return price === undefined ? [] : [{ path, host, model: row.id, price, allowLoss }];
    }),
  );
}

/** Prices of models that are listed with a host. */
function listedModels(draft: ConfigFile): Offer[] {
  return draft.hosts.flatMap((entry, at) =>
    (entry.models ?? []).flatMap((served, place) => {
      if (typeof served === 'string' || served.price === undefined) return [];
      const allowLoss = served.allow_loss ?? entry.allow_loss ?? false;
      const path = `hosts[${at}].models[${place}].price`;
      return [{ path, host: entry.name, model: served.id, price: served.price, allowLoss }];
    }),
  );
}

function entryOf(draft: ConfigFile, host: string): ConfigFile['hosts'][number] | undefined {
  return draft.hosts.find(({ name }) => name === host);
}

const FREE: PriceRow = { input: 0, output: 0 };

/** What callers pay with this file. Reads the catalog only if the file does not say. */
class PriceBook {
  readonly #draft: ConfigFile;
  readonly #catalog: CatalogRows;
  readonly #configured: readonly ConfiguredHost[];
  #rows: ReadonlyMap<string, ModelRow> | null = null;

  constructor(draft: ConfigFile, catalog: CatalogRows, configured: readonly ConfiguredHost[]) {
    this.#draft = draft;
    this.#catalog = catalog;
    this.#configured = configured;
  }

  /** Null for a model without a price, which is not served. */
  callersPay({ model, host }: Offer): PriceRow | null {
    const own = this.#draft.models.find(({ id }) => id === model);
    const price = this.#draft.prices[model] ?? (own ?? this.#catalogRow(model))?.price;
    return price ?? (this.#configured.some(({ row, local }) => local && row.name === host) ? FREE : null);
  }

  /** Hosts of the catalog that charge more than a price in the file. */
  undercutPlaces(): Offer[] {
    const own = new Set(this.#draft.models.map(({ id }) => id));
    const ids = Object.keys(this.#draft.prices).filter((id) => !own.has(id));
    return ids.flatMap((model) =>
      this.#catalogPlaces(model).flatMap(({ host, price }) => {
        if (!this.#configured.some(({ row }) => row.name === host)) return [];
        const entry = entryOf(this.#draft, host);
        const listed = (entry?.models ?? []).filter((served) => typeof served === 'object' && served.id === model);
        // A price that the file gives for this host and model was checked already.
        if (listed.some((served) => typeof served === 'object' && served.price !== undefined)) return [];
        return [{ path: `prices.${model}`, host, model, price, allowLoss: entry?.allow_loss ?? false }];
      }),
    );
  }

  /** A host without a price of its own charges the catalog's price. */
  #catalogPlaces(id: string): { host: string; price: PriceRow }[] {
    const row = this.#catalogRow(id);
    return (row?.hosts ?? []).flatMap(({ host, price = row?.price }) => (price === undefined ? [] : [{ host, price }]));
  }

  #catalogRow(id: string): ModelRow | undefined {
    this.#rows ??= new Map(this.#catalog().map((row) => [row.id, row]));
    return this.#rows.get(id);
  }
}
