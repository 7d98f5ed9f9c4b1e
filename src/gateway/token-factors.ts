import type { CatalogModel } from '../catalog/model.ts';

/** How many tokens of a model one counted token may be. */
export interface TokenFactors {
  of(model: CatalogModel): number;
}

export const CATALOG_FACTORS: TokenFactors = { of: ({ tokenFactor }) => tokenFactor.factor };
