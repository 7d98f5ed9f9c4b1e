/** Nanodollars per million tokens; a null cache rate means the input rate. */
export interface Rates {
  inputNanousdPerMillion: bigint;
  outputNanousdPerMillion: bigint;
  cacheReadNanousdPerMillion: bigint | null;
  cacheWriteNanousdPerMillion: bigint | null;
  cacheWrite1hNanousdPerMillion: bigint | null;
}

/** The rates of a whole request whose input exceeds `aboveInputTokens`. */
interface PriceTier extends Rates {
  aboveInputTokens: number;
}

export interface Price extends Rates {
  /** Ascending by `aboveInputTokens`. */
  tiers: readonly PriceTier[];
}

/** Explicitly free, which differs from having no price. */
export const FREE: Price = {
  inputNanousdPerMillion: 0n,
  outputNanousdPerMillion: 0n,
  cacheReadNanousdPerMillion: null,
  cacheWriteNanousdPerMillion: null,
  cacheWrite1hNanousdPerMillion: null,
  tiers: [],
};
