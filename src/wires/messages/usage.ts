import { MISSING_USAGE, type Usage, type UsageReading } from '../../canonical/usage.ts';
import type { Bill } from '../bill.ts';
import { isAbsent, isCount, isObject, type Members } from '../fields/members.ts';

/**
 * Counts of this wire are already disjoint: input tokens do not include cache reads and writes. Without an output count,
 * as at the start of a stream, the reading is partial. Counts of server-side tools never occur: those tools are refused.
 */
export function readUsage(raw: unknown): UsageReading {
  if (isAbsent(raw)) return MISSING_USAGE;
  if (!isObject(raw)) return { state: 'missing', defect: 'usage is not an object' };
  const counts = readCounts(raw);
  const defect = Object.entries(counts).find(([, count]) => !isCount(count));
  if (defect !== undefined) return { state: 'missing', defect: `the host's ${defect[0]} is not a valid count` };
  return { state: isAbsent(raw.output_tokens) ? 'partial' : 'reported', usage: usageOf(counts as Counts) };
}

interface Counts {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly ephemeral_1h_input_tokens: number;
  readonly output_tokens: number;
  readonly thinking_tokens: number;
}

function readCounts(raw: Members): Readonly<Record<keyof Counts, unknown>> {
  const creation = isObject(raw.cache_creation) ? raw.cache_creation : NOTHING;
  const details = isObject(raw.output_tokens_details) ? raw.output_tokens_details : NOTHING;
  const hour = creation.ephemeral_1h_input_tokens ?? 0;
  return {
    input_tokens: raw.input_tokens,
    cache_read_input_tokens: raw.cache_read_input_tokens ?? 0,
    cache_creation_input_tokens: raw.cache_creation_input_tokens ?? sum(creation.ephemeral_5m_input_tokens ?? 0, hour),
    ephemeral_1h_input_tokens: hour,
    output_tokens: raw.output_tokens ?? 0,
    thinking_tokens: details.thinking_tokens ?? 0,
  };
}

const NOTHING: Members = {};

function sum(left: unknown, right: unknown): unknown {
  return isCount(left) && isCount(right) ? left + right : left;
}

function usageOf(counts: Counts): Usage {
  const cacheWrite1hTokens = Math.min(counts.ephemeral_1h_input_tokens, counts.cache_creation_input_tokens);
  return {
    freshTokens: counts.input_tokens,
    cacheReadTokens: counts.cache_read_input_tokens,
    cacheWriteTokens: counts.cache_creation_input_tokens - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens: counts.output_tokens,
    reasoningTokens: Math.min(counts.thinking_tokens, counts.output_tokens),
  };
}

/** Later counts replace earlier ones, member by member: they are running totals. Null is ignored. */
export function mergeUsage(known: Members, later: Members): Members {
  const merged = { ...known };
  for (const name of Object.keys(later)) if (later[name] !== null) merged[name] = later[name];
  return merged;
}

/** Members of a host's usage about the host's own bill. */
const HOST_BILL = /^(cost|is_byok$)/;
/** The service tiers that the vendor has published; hosts send words of their own. */
const SERVICE_TIERS: ReadonlySet<unknown> = new Set(['standard', 'priority', 'batch', null, undefined]);

function withoutHostBill(raw: unknown): Members {
  if (!isObject(raw)) return {};
  const kept = Object.fromEntries(Object.entries(raw).filter(([name]) => !HOST_BILL.test(name)));
  if (!SERVICE_TIERS.has(kept.service_tier)) kept.service_tier = null;
  return kept;
}

/**
 * The usage of a buffered message: the billed counts in the shape of the host's usage, so that pricing them from the
 * catalog gives the cost. It has every member of the vendor's types; unknown ones are null.
 */
export function writeUsage(billed: Usage, raw: unknown): Members {
  const host = withoutHostBill(raw);
  return {
    ...UNKNOWN_DETAILS,
    ...host,
    ...writeCounts(billed),
    cache_creation: writeCacheCreation(billed, host.cache_creation),
    output_tokens_details: writeOutputDetails(billed, host.output_tokens_details),
  };
}

/** The usage of a stream's first frame: the host's counts so far, without its bill. */
export function writeOpeningUsage(raw: unknown): Members {
  return { ...NOTHING_COUNTED, ...UNKNOWN_DETAILS, ...withoutHostBill(raw) };
}

/** The usage at the end of a stream has fewer members; the first frame had the others. */
export function writeFinalUsage(billed: Usage, raw: Members): Members {
  const creation = writeCacheCreation(billed, raw.cache_creation);
  return {
    server_tool_use: null,
    ...withoutHostBill(raw),
    ...writeCounts(billed),
    ...((creation !== null || raw.cache_creation !== undefined) && { cache_creation: creation }),
    output_tokens_details: writeOutputDetails(billed, raw.output_tokens_details),
  };
}

/** The exact amount as digits; a float would lose precision. */
export function writeBilledUsage(bill: Bill, raw: unknown): string {
  const usage = JSON.stringify({ ...writeUsage(bill.usage, raw), cost: bill.costUsd });
  return `${usage.slice(0, -1)},"cost_nanousd":${bill.costNanousd}}`;
}

/** Members that are required by the vendor's types, though hosts leave them out. */
const UNKNOWN_DETAILS: Members = {
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

const NOTHING_COUNTED: Members = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};

function writeCounts(billed: Usage): Members {
  return {
    input_tokens: billed.freshTokens,
    cache_creation_input_tokens: billed.cacheWriteTokens + billed.cacheWrite1hTokens,
    cache_read_input_tokens: billed.cacheReadTokens,
    output_tokens: billed.outputTokens,
  };
}

function writeCacheCreation({ cacheWriteTokens, cacheWrite1hTokens }: Usage, raw: unknown): Members | null {
  if (cacheWriteTokens + cacheWrite1hTokens === 0 && !isObject(raw)) return null;
  return { ephemeral_5m_input_tokens: cacheWriteTokens, ephemeral_1h_input_tokens: cacheWrite1hTokens };
}

function writeOutputDetails({ reasoningTokens }: Usage, raw: unknown): Members | null {
  if (reasoningTokens === 0 && !isObject(raw)) return null;
  return { ...(isObject(raw) ? raw : null), thinking_tokens: reasoningTokens };
}
