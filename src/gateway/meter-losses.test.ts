import { describe, expect, it } from 'vitest';
import { BEFORE_CONTENT, HELD, partial, reported, settle } from '../../test/meter-fixture.ts';
import { type ErrorName, GatewayError } from '../canonical/errors.ts';
import type { UsageReading } from '../canonical/usage.ts';
import { LIMITS } from '../limits.ts';
import { INT64_MAX } from '../money/nanousd.ts';
import type { Outcome } from './outcome.ts';

describe('the loss of a call that is not charged', () => {
  const failed: Partial<Outcome> = { ...BEFORE_CONTENT, ended: 'failed' };
  const loss = (outcome: Partial<Outcome>) => {
    const { lossNanousd, lossReason } = settle({ ...failed, ...outcome });
    return [lossNanousd, lossReason];
  };
  const error = (kind: ErrorName) => new GatewayError(kind, { message: 'The host said so.' });

  it('is up to the hold for every attempt', () => {
    expect(loss({})).toEqual([HELD, 'host_may_bill_uncharged_work']);
    expect(loss({ attempts: 3, error: error('host_timeout') })).toEqual([3n * HELD, 'host_may_bill_uncharged_work']);
  });

  it('is what the last host reported, if it did', () => {
    expect(loss({ usage: reported({ freshTokens: 5 }) })).toEqual([50n, 'host_may_bill_uncharged_work']);
    expect(loss({ usage: reported({ freshTokens: 5 }), attempts: 2 })).toEqual([
      HELD + 50n,
      'host_may_bill_uncharged_work',
    ]);
    expect(loss({ usage: reported({}) })).toEqual([0n, null]);
  });

  it('is zero if no host was called, or every host refused the request', () => {
    expect(loss({ attempts: 0, host: null })).toEqual([0n, null]);
    for (const kind of [
      'host_refused_request',
      'host_context_length_exceeded',
      'rate_limit_exceeded',
      'overloaded',
    ] as const) {
      expect(loss({ error: error(kind) })).toEqual([0n, null]);
    }
  });

  it('keeps the reason for unusable counts', () => {
    expect(loss({ usage: { state: 'missing', defect: 'x' } })).toEqual([HELD, 'host_usage_unusable']);
  });

  it('stays within the largest amount that the ledger can store', () => {
    expect(settle({ ...failed, attempts: 5 }, { heldNanousd: INT64_MAX }).lossNanousd).toBe(
      BigInt(LIMITS.lossNanousdMax),
    );
  });
});

describe('the loss of a call that is charged by an estimate', () => {
  it('is nothing if the estimate is already the most that the host can bill', () => {
    expect(settle({ relayedBytes: 100_000 }, { heldNanousd: 20_700n })).toMatchObject({
      costNanousd: 20_700n,
      lossNanousd: 0n,
      lossReason: null,
    });
  });

  it('is not negative if the charge is above the bound, as it can be in a job that reserved more', () => {
    const usage = { ...partial({ freshTokens: 600 }), defect: 'x' } as UsageReading;
    const { costNanousd, lossNanousd } = settle({ usage }, { heldNanousd: 10_000n, boundNanousd: 5_000n });
    expect(costNanousd).toBeGreaterThan(5_000n);
    expect(lossNanousd).toBe(0n);
  });

  it('is never more than the hold less the charge', () => {
    const early = settle({ usage: partial({ freshTokens: 499, outputTokens: 1 }) }, { heldNanousd: 7_000n });
    expect(early).toMatchObject({ costNanousd: 6_990n, lossNanousd: 10n });
  });

  it('does not shrink if the host has already sent more than it may', () => {
    const early = settle({ usage: partial({ outputTokens: 201 }) });
    expect(early).toMatchObject({ costNanousd: 20_100n, lossNanousd: 0n, lossReason: null });
  });
});

describe('the loss of a call whose prompt was counted', () => {
  const BOUND = 3n * HELD;
  const loss = (outcome: Partial<Outcome>) => settle(outcome, { boundNanousd: BOUND }).lossNanousd;

  it('goes up to what the bytes of the prompt allow, since the hold may be too low', () => {
    const estimated = settle({});
    expect(loss({})).toBe(BOUND - estimated.costNanousd);
    expect(loss({ ...BEFORE_CONTENT, ended: 'failed', attempts: 2 })).toBe(2n * BOUND);
    expect(loss({ usage: reported({ freshTokens: 5 }), attempts: 2, billableTries: 1 })).toBe(BOUND);
    expect(loss({ usage: reported({ freshTokens: 5 }), repeats: 1 })).toBe(BOUND);
  });

  it('stays what the counted input and the longest output cost, if the host counted the input', () => {
    expect(loss({ usage: partial({ freshTokens: 500, outputTokens: 0 }) })).toBe(200n * 100n - 20n * 100n);
  });
});

describe('the loss of failed attempts before a charged one', () => {
  const answer: Partial<Outcome> = { usage: reported({ freshTokens: 5 }), attempts: 3 };

  it('is up to the hold for each attempt that a host may bill, and the caller pays nothing of it', () => {
    expect(settle({ ...answer, billableTries: 2 })).toMatchObject({
      costNanousd: 50n,
      lossNanousd: 2n * HELD,
      lossReason: 'host_may_bill_failed_attempt',
    });
    expect(settle({ ...answer, billableTries: 0 })).toMatchObject({ lossNanousd: 0n, lossReason: null });
  });

  it('is added to a loss of the charged attempt itself', () => {
    expect(settle({ usage: reported({ outputTokens: 1_000 }), attempts: 2, billableTries: 1 })).toMatchObject({
      lossNanousd: 100_000n - HELD + HELD,
      lossReason: 'host_reported_more_than_bound',
    });
  });

  it('is recorded even if the last host refused the request', () => {
    const refused = { ...BEFORE_CONTENT, ended: 'failed' as const, attempts: 2, turnedAway: true };
    expect(settle({ ...refused, billableTries: 1 })).toMatchObject({
      lossNanousd: HELD,
      lossReason: 'host_may_bill_uncharged_work',
    });
    expect(settle({ ...refused, billableTries: 0 })).toMatchObject({ lossNanousd: 0n, lossReason: null });
  });
});

describe('the loss of a request that was sent twice', () => {
  const answer: Partial<Outcome> = { usage: reported({ freshTokens: 5 }), repeats: 1 };

  it('is up to the hold, and the caller pays for one response', () => {
    expect(settle(answer)).toMatchObject({
      costNanousd: 50n,
      lossNanousd: HELD,
      lossReason: 'host_may_bill_repeated_request',
    });
  });

  it('is added to the loss of a failed attempt, under that reason', () => {
    expect(settle({ ...answer, attempts: 2, billableTries: 1 })).toMatchObject({
      lossNanousd: 2n * HELD,
      lossReason: 'host_may_bill_failed_attempt',
    });
  });

  it('remains if the host refused the second request, and is doubled if the host may bill that too', () => {
    const failed = { ...BEFORE_CONTENT, ended: 'failed' as const, repeats: 1 };
    expect(settle({ ...failed, turnedAway: true })).toMatchObject({
      lossNanousd: HELD,
      lossReason: 'host_may_bill_repeated_request',
    });
    expect(settle(failed)).toMatchObject({ lossNanousd: 2n * HELD, lossReason: 'host_may_bill_uncharged_work' });
  });
});
