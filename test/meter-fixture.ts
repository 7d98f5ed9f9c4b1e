import type { Settlement } from '../src/canonical/receipt.ts';
import { MISSING_USAGE, type Usage, type UsageReading, ZERO_USAGE } from '../src/canonical/usage.ts';
import { type MeterInput, meter } from '../src/gateway/meter.ts';
import type { Outcome } from '../src/gateway/outcome.ts';
import type { Price } from '../src/money/price.ts';

/** 10 nanodollars per input token, 1 per cached token, 100 per output token, so that costs are easy to read. */
export const PRICE: Price = {
  inputNanousdPerMillion: 10_000_000n,
  outputNanousdPerMillion: 100_000_000n,
  cacheReadNanousdPerMillion: 1_000_000n,
  cacheWriteNanousdPerMillion: null,
  cacheWrite1hNanousdPerMillion: null,
  tiers: [],
};
export const HELD = 10n * 500n + 3n + 100n * 200n;
export const INPUT: Omit<MeterInput, 'outcome'> = {
  stream: true,
  price: PRICE,
  heldNanousd: HELD,
  boundNanousd: HELD,
  inputBound: 500,
  outputBound: 200,
  inputEstimateTokens: 70,
};
export const OUTCOME: Outcome = {
  ended: 'complete',
  httpStatus: 200,
  usage: MISSING_USAGE,
  drained: false,
  contentLeft: true,
  relayedBytes: 80,
  host: 'some-host',
  attempts: 1,
  error: null,
};

export const reported = (usage: Partial<Usage>): UsageReading => ({
  state: 'reported',
  usage: { ...ZERO_USAGE, ...usage },
});
export const partial = (usage: Partial<Usage>): UsageReading => ({
  state: 'partial',
  usage: { ...ZERO_USAGE, ...usage },
});
export const settle = (outcome: Partial<Outcome>, input: Partial<MeterInput> = {}): Settlement =>
  meter({ ...INPUT, boundNanousd: input.heldNanousd ?? HELD, ...input, outcome: { ...OUTCOME, ...outcome } });

/** How a relay reports an ending before any content was sent. */
export const BEFORE_CONTENT = { contentLeft: false, relayedBytes: 0 } as const;
