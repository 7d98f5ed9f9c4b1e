import { z } from 'zod';
import { descriptorLimit } from '../kit/descriptors.ts';
import { memoryBytes } from '../kit/process-load.ts';
import { LIMITS } from '../limits.ts';

const COUNT_MAX = 1_000_000_000;
const MEGABYTE = 1024 * 1024;

function count(usual: number, meaning: string) {
  return z.int().min(1).max(COUNT_MAX).default(usual).describe(meaning);
}

function watched(usual: number, most: number, meaning: string) {
  return z.int().min(1).max(most).nullable().default(usual).describe(`${meaning} Null: not watched.`);
}

export const rateLimitSchema = z.strictObject({
  requests_per_second: z
    .number()
    .min(0.001)
    .max(COUNT_MAX)
    .nullable()
    .default(50)
    .describe('Requests per second of one key. Null: unlimited.'),
  burst: count(100, 'Requests of one key that may arrive at once.'),
  body_bytes_per_second: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(MEGABYTE)
    .describe("Bytes of request bodies per second of one key; eight seconds' worth may come at once. Null: unlimited."),
  json_members_per_second: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(50_000)
    .describe(
      "JSON members in request bodies per second of one key; two seconds' worth may come at once. Null: unlimited.",
    ),
  calls: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(256)
    .describe('Concurrent calls of one key. Null: unlimited.'),
  streams: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(64)
    .describe('Concurrent streams of one key. Null: unlimited.'),
  account_factor: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(null)
    .describe('All keys of one account together may use this many times what one key may. Null: unlimited.'),
});

export const loadLimitsSchema = z.strictObject({
  event_loop_lag_ms: watched(500, 60_000, 'Event loop delay above which calls are refused.'),
  heap_percent: watched(90, 100, 'Used JavaScript heap above which calls are refused.'),
  memory_mb: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(null)
    .describe('Process memory above which calls are refused. Null: 90 percent of what is available.'),
  connections: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(null)
    .describe('Open connections of callers. Null: as many as the file descriptors of the process allow.'),
  calls: watched(20_000, COUNT_MAX, 'Concurrent calls above which more are refused.'),
  ledger_queue: watched(
    LIMITS.ledgerHoldQueueMax / 2,
    LIMITS.ledgerHoldQueueMax,
    'Queued ledger operations above which calls are refused.',
  ),
});

export interface ConfigRateLimit {
  /** Null: unlimited. */
  readonly requestsPerSecond: number | null;
  readonly burst: number;
  readonly bodyBytesPerSecond: number | null;
  readonly jsonMembersPerSecond: number | null;
  readonly calls: number | null;
  readonly streams: number | null;
  /** What all keys of one account may use, as a multiple of what one key may. */
  readonly accountFactor: number | null;
}

/** Null: not watched. */
export interface ConfigLoadLimits {
  readonly eventLoopLagMs: number | null;
  readonly heapShare: number | null;
  readonly residentBytes: number | null;
  /** Never null: without a setting it follows from the file descriptors. */
  readonly connections: number;
  readonly callsUnderWay: number | null;
  readonly ledgerDepth: number | null;
}

export function readRateLimit(draft: z.infer<typeof rateLimitSchema>): ConfigRateLimit {
  return {
    requestsPerSecond: draft.requests_per_second,
    burst: draft.burst,
    bodyBytesPerSecond: draft.body_bytes_per_second,
    jsonMembersPerSecond: draft.json_members_per_second,
    calls: draft.calls,
    streams: draft.streams,
    accountFactor: draft.account_factor,
  };
}

export function readLoadLimits(draft: z.infer<typeof loadLimitsSchema>): ConfigLoadLimits {
  const { heap_percent: percent, memory_mb: megabytes } = draft;
  return {
    eventLoopLagMs: draft.event_loop_lag_ms,
    heapShare: percent === null ? null : percent / 100,
    residentBytes: megabytes === null ? Math.floor(memoryBytes() * 0.9) : megabytes * MEGABYTE,
    connections: readConnections(draft.connections, descriptorLimit() ?? LIMITS.descriptorsAssumed),
    callsUnderWay: draft.calls,
    ledgerDepth: draft.ledger_queue,
  };
}

/**
 * By default half of the descriptors that are not reserved, because a call also needs a connection to its host. A setting
 * may take more of them, but never the reserve.
 */
function readConnections(setting: number | null, descriptors: number): number {
  const free = descriptors - LIMITS.descriptorsReserved;
  return Math.max(LIMITS.connectionsMin, setting === null ? Math.floor(free / 2) : Math.min(setting, free));
}
