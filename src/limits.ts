/** Every limit of the product in one place; a limit that is not here does not exist. */
export const LIMITS = {
  /** Largest request body a caller may send. */
  requestBodyBytesMax: 32 * 1024 * 1024,
  /** Deepest nesting, most keys and most elements a JSON body may have before it is refused unread. */
  jsonDepthMax: 64,
  jsonNodesMax: 1_000_000,
  jsonNumberDigitsMax: 400,
  jsonKeyBytesMax: 4096,
  /** Largest single server-sent event a host may send. */
  sseFrameBytesMax: 8 * 1024 * 1024,
  /** Largest buffered answer a host may send. */
  responseBodyBytesMax: 64 * 1024 * 1024,
  /** Models in one catalog, other names of one model, price tiers of one model. */
  catalogModelsMax: 10_000,
  modelAliasesMax: 64,
  priceTiersMax: 16,
  /** Longest model id or alias. */
  modelIdCharsMax: 200,
  /** Dearest rate a price may name: one dollar a token, so that no sum of a request leaves int64. */
  rateNanousdPerMillionMax: 1_000_000_000_000_000,
} as const;
