import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EndingRow, readEndings, readUsageRules, type UsageRow } from '../../test/endings-page.ts';
import { BEFORE_CONTENT, HELD, INPUT, OUTCOME, PRICE, partial, reported, settle } from '../../test/meter-fixture.ts';
import { anyTokens, anyUsage, price, tokens, usageWithin } from '../../test/money-arbitraries.ts';
import { randomCases } from '../../test/random-cases.ts';
import { ERROR_TABLE, type ErrorName, GatewayError } from '../canonical/errors.ts';
import { ENDINGS, type Settlement } from '../canonical/receipt.ts';
import { MISSING_USAGE, type Usage, type UsageReading, ZERO_USAGE } from '../canonical/usage.ts';
import { LIMITS } from '../limits.ts';
import { worstCase } from '../money/worst-case.ts';
import { meter } from './meter.ts';
import type { Outcome } from './outcome.ts';

interface Situation extends Partial<Outcome> {
  readonly stream?: boolean;
}

const STREAM_DRAINED: Situation = { drained: true };
const READ_TO_END: Situation = { readToEnd: true, drained: true, contentLeft: false };
const READ_TO_END_FAILED: Situation = { readToEnd: true, drained: false, contentLeft: false };

/** How the relay reports each row of the page. */
const SITUATIONS: Record<string, Situation> = {
  'complete any': {},
  'failed any': { ...BEFORE_CONTENT, httpStatus: 502 },
  'upstream_error before_content': BEFORE_CONTENT,
  'upstream_error after_content': {},
  'timeout before_content': BEFORE_CONTENT,
  'timeout after_content': {},
  'shutdown before_content': BEFORE_CONTENT,
  'shutdown after_content': {},
  'client_gone not_sent': { ...BEFORE_CONTENT, stream: false, attempts: 0, host: null },
  'client_gone stream_before_content': BEFORE_CONTENT,
  'client_gone stream_read_to_end': READ_TO_END,
  'client_gone stream_read_to_end_failed': READ_TO_END_FAILED,
  'client_gone stream_cut': {},
  'client_gone stream_drained': STREAM_DRAINED,
  'client_gone buffered_cancelled': { stream: false, contentLeft: false },
  'client_gone buffered_drained': { stream: false, contentLeft: false, drained: true },
  'stalled stream_before_content': BEFORE_CONTENT,
  'stalled stream_read_to_end': READ_TO_END,
  'stalled stream_read_to_end_failed': READ_TO_END_FAILED,
  'stalled stream_cut': {},
  'stalled stream_drained': STREAM_DRAINED,
};

interface CountsCase {
  readonly reading: UsageReading;
  /** The cost if the page charges usage: 80 bytes were relayed, and 70 input tokens are the estimate. */
  readonly costNanousd: bigint;
  readonly usage: Partial<Usage>;
  readonly lossNanousd: bigint;
}

const COUNTS: Record<string, CountsCase> = {
  reported: {
    reading: reported({ freshTokens: 40, cacheReadTokens: 9, outputTokens: 7 }),
    costNanousd: 400n + 9n + 700n,
    usage: { freshTokens: 40, cacheReadTokens: 9, outputTokens: 7 },
    lossNanousd: 0n,
  },
  zero: { reading: reported({}), costNanousd: 0n, usage: {}, lossNanousd: 0n },
  partial: {
    reading: partial({ freshTokens: 40, outputTokens: 3 }),
    costNanousd: 400n + 100n * 20n,
    usage: { freshTokens: 40, outputTokens: 20 },
    lossNanousd: 100n * (200n - 20n),
  },
  missing: {
    reading: MISSING_USAGE,
    costNanousd: 700n + 100n * 20n,
    usage: { freshTokens: 70, outputTokens: 20 },
    lossNanousd: HELD - 2_700n,
  },
  unusable: {
    reading: { state: 'missing', defect: 'prompt_tokens is -1' },
    costNanousd: 700n + 100n * 20n,
    usage: { freshTokens: 70, outputTokens: 20 },
    lossNanousd: HELD - 2_700n,
  },
  too_much: {
    reading: reported({ outputTokens: 1_000 }),
    costNanousd: HELD,
    usage: { outputTokens: 1_000 },
    lossNanousd: 100_000n - HELD,
  },
};

const endings = readEndings().filter((row) => row.charge !== 'void');
const rules = readUsageRules();
const matrix = endings.flatMap((ending) =>
  rules.map((rule) => ({ name: `${ending.ended} ${ending.situation}`, ending, rule })),
);

describe('docs/endings.md', () => {
  it('has a row for every ending, and every row has a case here', () => {
    expect(new Set(readEndings().map((row) => row.ended))).toEqual(new Set(ENDINGS));
    expect(endings.map((row) => `${row.ended} ${row.situation}`).sort()).toEqual(Object.keys(SITUATIONS).sort());
    expect(rules.map((rule) => rule.counts).sort()).toEqual(Object.keys(COUNTS).sort());
  });

  it('leaves only a died process to the store, which voids the hold', () => {
    const voided = readEndings().filter((row) => row.charge === 'void');
    expect(voided).toEqual([{ ended: 'died', situation: 'any', charge: 'void', loss: 'hold' }]);
  });

  it.each(matrix)('$name, counts $rule.counts: charges what the page says', ({ name, ending, rule }) => {
    const { stream = true, ...outcome } = SITUATIONS[name]!;
    const counts = COUNTS[rule.counts]!;
    const ended = ending.ended as Outcome['ended'];
    const settlement = settle({ ...outcome, ended, usage: counts.reading }, { stream });
    if (ending.charge === 'usage') expectUsage(settlement, rule, counts, outcome.drained ?? false);
    else expectNothing(settlement, ending);
    expect(settlement.hangupCharged).toBe(ending.situation === 'stream_read_to_end' ? true : null);
    expect(settlement).toMatchObject({ ended, httpStatus: outcome.httpStatus ?? 200 });
  });
});

function expectUsage(settlement: Settlement, rule: UsageRow, counts: CountsCase, drained: boolean): void {
  expect(settlement).toMatchObject({
    costNanousd: counts.costNanousd,
    usage: { ...ZERO_USAGE, ...counts.usage },
    usageSource: drained && rule.usageSource === 'reported' ? 'drained' : rule.usageSource,
    lossNanousd: counts.lossNanousd,
    lossReason: rule.loss === 'none' ? null : rule.loss,
  });
  expect(settlement.components === null).toBe(rule.components === 'null');
}

function expectNothing(settlement: Settlement, { charge, loss }: EndingRow): void {
  expect(charge).toBe('nothing');
  if (loss === 'none') expect(settlement).toMatchObject({ lossNanousd: 0n, lossReason: null });
  expect(settlement).toMatchObject({ costNanousd: 0n, usage: null, usageSource: 'none' });
  expect(sumOf(settlement)).toBe(0n);
}

function sumOf({ components }: Settlement): bigint | null {
  return components === null ? null : Object.values(components).reduce<bigint>((sum, part) => sum + part, 0n);
}

describe('the meter', () => {
  it('never estimates more than the caller could have been sent or have sent', () => {
    const { usage } = settle({ relayedBytes: 100_000 }, { inputEstimateTokens: 9_999 });
    expect(usage).toEqual({ ...ZERO_USAGE, freshTokens: 500, outputTokens: 200 });
  });

  it('takes the larger of partial and estimated output, and trusts the partial input even if it is zero', () => {
    expect(settle({ usage: partial({ outputTokens: 150 }) }).usage).toEqual({ ...ZERO_USAGE, outputTokens: 150 });
    expect(settle({ usage: partial({ cacheReadTokens: 8, outputTokens: 1 }) }).usage).toEqual({
      ...ZERO_USAGE,
      cacheReadTokens: 8,
      outputTokens: 20,
    });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, LIMITS.usageTokensMax + 1])(
    'takes a reported count of %s for missing, and raises the alarm',
    (count) => {
      for (const usage of [reported({ outputTokens: count }), partial({ cacheWrite1hTokens: count })]) {
        expect(settle({ usage })).toMatchObject({
          usageSource: 'estimated',
          costNanousd: 2_700n,
          lossReason: 'host_usage_unusable',
        });
      }
    },
  );

  it('charges the counts before unusable ones as early counts, and raises the alarm', () => {
    const counts = { ...ZERO_USAGE, freshTokens: 40, outputTokens: 30 };
    expect(settle({ usage: { state: 'partial', usage: counts, defect: 'output is -1' } })).toMatchObject({
      usageSource: 'partial',
      costNanousd: 400n + 100n * 30n,
      lossNanousd: 100n * (200n - 30n),
      lossReason: 'host_usage_unusable',
    });
  });

  it('charges a stream that was read to its end, even if nothing of it was sent', () => {
    const left = settle({
      ...BEFORE_CONTENT,
      ended: 'client_gone',
      drained: true,
      usage: reported({ outputTokens: 1 }),
    });
    expect(left).toMatchObject({ costNanousd: 100n, usageSource: 'drained' });
  });

  it('charges nothing at a price of zero, and still records the usage', () => {
    const free = { ...PRICE, inputNanousdPerMillion: 0n, outputNanousdPerMillion: 0n, cacheReadNanousdPerMillion: 0n };
    const settlement = settle({ usage: reported({ outputTokens: 9_999 }) }, { price: free, heldNanousd: 0n });
    expect(settlement).toMatchObject({ costNanousd: 0n, usageSource: 'reported', lossReason: null });
    expect(sumOf(settlement)).toBe(0n);
  });
});

const reading: fc.Arbitrary<UsageReading> = fc.oneof(
  fc.record({ state: fc.constantFrom('reported' as const, 'partial' as const), usage: anyUsage }),
  fc.constant(MISSING_USAGE),
  fc.constant<UsageReading>({ state: 'missing', defect: 'not a count' }),
);
const outcome: fc.Arbitrary<Outcome> = fc.record({
  ended: fc.constantFrom(...ENDINGS.filter((ended) => ended !== 'died')),
  httpStatus: fc.constantFrom(200, 400, 502),
  usage: reading,
  drained: fc.boolean(),
  contentLeft: fc.boolean(),
  relayedBytes: anyTokens,
  host: fc.constant('some-host'),
  attempts: fc.nat(5),
  error: fc.option(
    fc
      .constantFrom(...(Object.keys(ERROR_TABLE) as ErrorName[]))
      .map((kind) => new GatewayError(kind, { message: 'No.' })),
    { nil: null },
  ),
});
const agreed = fc
  .record({ price, inputBound: tokens, outputBound: tokens, inputEstimateTokens: tokens, stream: fc.boolean() })
  .map((input) => {
    const { worstNanousd } = worstCase(input);
    return { ...input, heldNanousd: worstNanousd, boundNanousd: worstNanousd };
  });

describe('for every outcome, the meter', () => {
  it('charges between zero and the hold, with components that add up to the charge, or without', () => {
    fc.assert(
      fc.property(agreed, outcome, (input, happened) => {
        const settlement = meter({ ...input, outcome: happened });
        expect(settlement.costNanousd).toBeGreaterThanOrEqual(0n);
        expect(settlement.costNanousd).toBeLessThanOrEqual(input.heldNanousd);
        expect(settlement.lossNanousd).toBeGreaterThanOrEqual(0n);
        expect(settlement.lossNanousd).toBeLessThanOrEqual(BigInt(LIMITS.lossNanousdMax));
        expect([settlement.costNanousd, null]).toContain(sumOf(settlement));
        expect(settlement.components === null).toBe(settlement.lossReason === 'host_reported_more_than_bound');
      }),
      { numRuns: randomCases(2_000) },
    );
  });

  it('charges at most the hold, so that a ceiling is never exceeded', () => {
    fc.assert(
      fc.property(agreed, outcome, fc.bigInt({ min: 0n, max: 10_000n }), (input, happened, heldNanousd) => {
        expect(meter({ ...input, heldNanousd, outcome: happened }).costNanousd).toBeLessThanOrEqual(heldNanousd);
      }),
    );
  });

  it('charges a prompt that exceeds its count at the hold, and blames the host only beyond the bound by bytes', () => {
    const heldNanousd = INPUT.heldNanousd;
    const boundNanousd = heldNanousd + 1_000n;
    const costing = (freshTokens: number) =>
      meter({
        ...INPUT,
        boundNanousd,
        outcome: { ...OUTCOME, usage: { state: 'reported', usage: { ...ZERO_USAGE, freshTokens } } },
      });
    const limit = Number(boundNanousd / 10n);
    expect(costing(limit)).toMatchObject({
      costNanousd: heldNanousd,
      lossNanousd: BigInt(limit) * 10n - heldNanousd,
      lossReason: 'prompt_exceeded_count',
      components: null,
    });
    expect(costing(limit + 1)).toMatchObject({
      costNanousd: heldNanousd,
      lossReason: 'host_reported_more_than_bound',
    });
    expect(costing(Number(heldNanousd / 10n)).lossReason).toBeNull();
  });

  it('charges all usage within the bounds exactly, with components and without loss', () => {
    const within = agreed.chain((input) =>
      fc.record({ input: fc.constant(input), usage: usageWithin(input.inputBound, input.outputBound) }),
    );
    fc.assert(
      fc.property(within, ({ input, usage }) => {
        const settlement = meter({ ...input, outcome: { ...OUTCOME, usage: { state: 'reported', usage } } });
        expect(settlement).toMatchObject({ usage, usageSource: 'reported', lossReason: null });
        expect(sumOf(settlement)).toBe(settlement.costNanousd);
      }),
    );
  });

  it('records usage exactly if it charges for it, and treats a stalled client like one that left', () => {
    fc.assert(
      fc.property(agreed, outcome, (input, happened) => {
        const settlement = meter({ ...input, outcome: happened });
        expect(settlement.usage === null).toBe(settlement.usageSource === 'none');
        const gone = meter({ ...input, outcome: { ...happened, ended: 'client_gone' } });
        const stalled = meter({ ...input, outcome: { ...happened, ended: 'stalled' } });
        expect(stalled).toEqual({ ...gone, ended: 'stalled' });
      }),
    );
  });
});
