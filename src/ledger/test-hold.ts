/** Always refused by its ceiling, but idempotency keys are checked before that. */
export const ALWAYS_REFUSED = {
  kind: 'hold',
  amountNanousd: 0n,
  ceilingNanousd: -1n,
  route: '',
  stream: false,
  requestedModel: '',
  effectiveModel: '',
  priceId: 0,
  labels: null,
} as const;

/** No account has this id. */
export const TEST_HOLD = { ...ALWAYS_REFUSED, id: 0n, accountId: 0n, keyId: null, idempotency: null } as const;
