import type { ErrorName } from '../canonical/errors.ts';
import type { LossReason } from '../canonical/loss-reasons.ts';
import type { CostComponents, Settlement, UsageSource } from '../canonical/receipt.ts';
import { areCounts, type Usage, type UsageReading, ZERO_USAGE } from '../canonical/usage.ts';
import { LIMITS } from '../limits.ts';
import { costOf } from '../money/cost.ts';
import { estimateTokens } from '../money/estimate-tokens.ts';
import type { Price } from '../money/price.ts';
import type { Outcome } from './outcome.ts';

/** The outcome of a call, with the price, bounds and amount of its hold. */
export interface MeterInput {
  readonly outcome: Outcome;
  readonly stream: boolean;
  readonly price: Price;
  readonly heldNanousd: bigint;
  /** The most that a host can bill. More than the hold if the prompt was counted. */
  readonly boundNanousd: bigint;
  readonly inputBound: number;
  readonly outputBound: number;
  /** An estimate of the input, for hosts that report no usage. */
  readonly inputEstimateTokens: number;
}

type Charge = Pick<Settlement, 'usageSource' | 'usage' | 'components' | 'costNanousd' | 'lossNanousd' | 'lossReason'>;
type Loss = Pick<Charge, 'lossNanousd' | 'lossReason'>;

const LOSS_NANOUSD_MAX = BigInt(LIMITS.lossNanousdMax);
const NO_LOSS: Loss = { lossNanousd: 0n, lossReason: null };
const ZERO_COMPONENTS: CostComponents = {
  freshNanousd: 0n,
  cacheWriteNanousd: 0n,
  cacheReadNanousd: 0n,
  outputNanousd: 0n,
};

/** Errors that a host sends instead of doing work. It does not bill them. */
const HOST_DID_NOT_WORK: ReadonlySet<ErrorName> = new Set([
  'host_refused_request',
  'host_context_length_exceeded',
  'rate_limit_exceeded',
  'overloaded',
]);

/** Computes what the caller pays for an outcome, by the table in docs/endings.md. Never more than the hold. */
export function meter(input: MeterInput): Settlement {
  const { ended, httpStatus, host, attempts, tries = null } = input.outcome;
  const reading = withUsableCounts(input.outcome.usage);
  const charge = isCharged(input) ? withEarlierWork(input, chargeFor(input, reading)) : chargeNothing(input, reading);
  const { usageSource, usage, components, costNanousd, lossNanousd, lossReason } = charge;
  // Written out member by member: spreading is slower, and this runs for every call.
  return {
    ended,
    httpStatus,
    host,
    attempts,
    tries,
    usageSource,
    usage,
    components,
    costNanousd,
    lossNanousd,
    lossReason,
    hangupCharged: isHangupCharged(input.outcome) && usage !== null ? true : null,
    adjusted: input.outcome.adjusted ?? null,
    firstByteMs: input.outcome.firstByteMs ?? null,
  };
}

/** Hanging up before any content is free otherwise. */
function isHangupCharged({ readToEnd, contentLeft }: Outcome): boolean {
  return readToEnd === true && !contentLeft;
}

function isCharged({ outcome, stream }: MeterInput): boolean {
  switch (outcome.ended) {
    case 'complete':
      return true;
    case 'failed':
      return false;
    case 'upstream_error':
    case 'timeout':
    case 'shutdown':
      return outcome.contentLeft;
    case 'client_gone':
    case 'stalled':
      return outcome.contentLeft || outcome.drained || (!stream && wasAsked(outcome));
  }
}

function wasAsked({ attempts, turnedAway }: Outcome): boolean {
  return attempts > 0 && turnedAway !== true;
}

function chargeFor(input: MeterInput, reading: UsageReading): Charge {
  const { price, heldNanousd, boundNanousd, outcome } = input;
  const usage = billedUsage(input, reading);
  const usageSource = sourceOf(reading, outcome);
  const { components, costNanousd } = costOf(price, usage);
  if (costNanousd > heldNanousd) {
    const reason = costNanousd > boundNanousd ? 'host_reported_more_than_bound' : 'prompt_exceeded_count';
    const loss = lossOf(reason, costNanousd - heldNanousd);
    return { ...loss, usageSource, usage, components: null, costNanousd: heldNanousd };
  }
  const { lossNanousd, lossReason } = lossOfEstimate(input, reading, usage, costNanousd);
  return { usageSource, usage, components, costNanousd, lossNanousd, lossReason };
}

/** What the host may bill beyond a charge that is not its own final count. */
function lossOfEstimate(input: MeterInput, reading: UsageReading, usage: Usage, costNanousd: bigint): Loss {
  if (reading.state === 'reported') return NO_LOSS;
  const nanousd = worstOf(input, reading, usage) - costNanousd;
  if (hasDefect(reading)) return lossOf('host_usage_unusable', nanousd);
  return nanousd > 0n ? lossOf('host_may_bill_more_than_estimate', nanousd) : NO_LOSS;
}

/** An early count of the input is final, but the output may have continued up to its limit. */
function worstOf({ price, boundNanousd, outputBound }: MeterInput, reading: UsageReading, usage: Usage): bigint {
  if (reading.state !== 'partial') return boundNanousd;
  const outputTokens = Math.max(usage.outputTokens, outputBound);
  const { costNanousd } = costOf(price, { ...usage, outputTokens });
  return costNanousd < boundNanousd ? costNanousd : boundNanousd;
}

/**
 * The caller pays for one response. What hosts may bill for earlier or repeated requests is a loss, up to the bound
 * for each.
 */
function withEarlierWork({ outcome, boundNanousd }: MeterInput, charge: Charge): Charge {
  const { billableTries = 0, repeats = 0 } = outcome;
  const earlierNanousd = boundNanousd * BigInt(billableTries + repeats);
  if (earlierNanousd === 0n) return charge;
  const reason = billableTries > 0 ? 'host_may_bill_failed_attempt' : 'host_may_bill_repeated_request';
  const lossReason = charge.lossReason === null ? reason : (charge.lossReason as LossReason);
  return { ...charge, ...lossOf(lossReason, charge.lossNanousd + earlierNanousd) };
}

/** Estimates stay within the bounds of the hold. Only a host's own counts can exceed them. */
function billedUsage(input: MeterInput, reading: UsageReading): Usage {
  if (reading.state === 'reported') return reading.usage;
  const outputTokens = Math.min(estimateTokens(input.outcome.relayedBytes), input.outputBound);
  if (reading.state === 'partial') {
    return { ...reading.usage, outputTokens: Math.max(reading.usage.outputTokens, outputTokens) };
  }
  return { ...ZERO_USAGE, freshTokens: Math.min(input.inputEstimateTokens, input.inputBound), outputTokens };
}

function sourceOf(reading: UsageReading, { drained }: Outcome): UsageSource {
  if (reading.state === 'missing') return 'estimated';
  return reading.state === 'reported' && drained ? 'drained' : reading.state;
}

function chargeNothing(input: MeterInput, reading: UsageReading): Charge {
  const loss = unchargedWork(input, reading);
  return { usageSource: 'none', usage: null, components: ZERO_COMPONENTS, costNanousd: 0n, ...loss };
}

/** A host that refused the request, or was never reached, bills nothing. */
export function hostMayBill({ error, turnedAway }: Pick<Outcome, 'error' | 'turnedAway'>): boolean {
  return turnedAway !== true && !(error !== null && HOST_DID_NOT_WORK.has(error.kind));
}

/** Whether any host may have worked on the call. */
export function mayHaveRun(outcome: Outcome): boolean {
  const { attempts, billableTries = 0, repeats = 0 } = outcome;
  return (attempts > 0 && hostMayBill(outcome)) || billableTries + repeats > 0;
}

/** Every attempt can cost up to the bound. Only the last one may have a count from the host. */
function unchargedWork(input: MeterInput, reading: UsageReading): Loss {
  const { outcome, boundNanousd } = input;
  const lastMayBill = outcome.attempts > 0 && hostMayBill(outcome);
  const earlier = outcome.billableTries ?? (lastMayBill ? outcome.attempts - 1 : 0);
  const repeats = outcome.repeats ?? 0;
  const nanousd = boundNanousd * BigInt(earlier + repeats) + (lastMayBill ? billOfLast(input, reading) : 0n);
  if (lastMayBill && hasDefect(reading)) return lossOf('host_usage_unusable', nanousd);
  if (nanousd === 0n) return NO_LOSS;
  const isRepeatAlone = earlier === 0 && !lastMayBill;
  return lossOf(isRepeatAlone ? 'host_may_bill_repeated_request' : 'host_may_bill_uncharged_work', nanousd);
}

function billOfLast({ price, boundNanousd }: MeterInput, reading: UsageReading): bigint {
  return reading.state === 'reported' ? costOf(price, reading.usage).costNanousd : boundNanousd;
}

/** At least zero: what was reserved for a job may be more than its bound of today, and a charge may lie in between. */
function lossOf(lossReason: LossReason, nanousd: bigint): Loss {
  const positive = nanousd > 0n ? nanousd : 0n;
  return { lossNanousd: positive < LOSS_NANOUSD_MAX ? positive : LOSS_NANOUSD_MAX, lossReason };
}

function hasDefect(reading: UsageReading): boolean {
  return reading.state !== 'reported' && reading.defect !== undefined;
}

/** The last check before billing: usage with invalid counts is treated as missing. */
function withUsableCounts(reading: UsageReading): UsageReading {
  if (reading.state === 'missing' || areCounts(reading.usage)) return reading;
  return { state: 'missing', defect: 'counts that are negative, not whole numbers or absurdly high' };
}
