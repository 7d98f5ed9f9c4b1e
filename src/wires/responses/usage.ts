import { inputTokens, MISSING_USAGE, type Usage, type UsageReading } from '../../canonical/usage.ts';
import type { Bill } from '../bill.ts';
import { withoutHostBill } from '../fields/host-members.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { cacheCounts } from '../usage/cache-counts.ts';
import { readCounts, type UsageRule } from '../usage/inclusive-usage.ts';

const NO_DETAILS: Members = {};

export function readUsage(raw: unknown, rule: UsageRule): UsageReading {
  if (isAbsent(raw)) return MISSING_USAGE;
  if (!isObject(raw)) return { state: 'missing', defect: 'usage is not an object' };
  const input = isObject(raw.input_tokens_details) ? raw.input_tokens_details : NO_DETAILS;
  const output = isObject(raw.output_tokens_details) ? raw.output_tokens_details : NO_DETAILS;
  const counts = {
    input: raw.input_tokens,
    output: raw.output_tokens,
    total: raw.total_tokens ?? null,
    cached: input.cached_tokens ?? 0,
    cacheWrite: input.cache_write_tokens ?? 0,
    reasoning: output.reasoning_tokens ?? 0,
  };
  return readCounts(counts, rule);
}

/** The billed counts together with other members of the host's usage, without the host's cost. */
export function writeUsage(billed: Usage, raw: unknown): Members {
  const written = withoutHostBill(raw);
  const input = inputTokens(billed);
  written.input_tokens = input;
  written.input_tokens_details = writeInputDetails(billed, written.input_tokens_details);
  written.output_tokens = billed.outputTokens;
  written.output_tokens_details = {
    ...(isObject(written.output_tokens_details) && written.output_tokens_details),
    reasoning_tokens: billed.reasoningTokens,
  };
  written.total_tokens = input + billed.outputTokens;
  return written;
}

function writeInputDetails(billed: Usage, raw: unknown): Members {
  const details = isObject(raw) ? raw : NO_DETAILS;
  const written = { ...details, ...cacheCounts(billed) };
  // A one-hour count that only the host knows of is not what was billed.
  if (billed.cacheWrite1hTokens === 0) delete written.cache_write_1h_tokens;
  return written;
}

/** The usage of a buffered response with its cost; the integer is written as digits, since a float would lose precision. */
export function billedUsageText(bill: Bill, raw: unknown): string {
  const usage = JSON.stringify({ ...writeUsage(bill.usage, raw), cost: bill.costUsd });
  return `${usage.slice(0, -1)},"cost_nanousd":${bill.costNanousd}}`;
}
