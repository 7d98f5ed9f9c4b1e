import { z } from 'zod';
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
    .describe('Requests a second of one key. Null: any number.'),
  burst: count(100, 'How many of them may come at once after a rest.'),
  calls: z.int().min(1).max(COUNT_MAX).nullable().default(256).describe('Calls of one key at once. Null: any number.'),
  streams: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(64)
    .describe('Streams of one key at once. Null: any number.'),
});

export const loadLimitsSchema = z.strictObject({
  event_loop_lag_ms: watched(500, 60_000, 'Lateness of the event loop beyond which calls are turned away.'),
  heap_percent: watched(90, 100, 'Used share of the JavaScript heap beyond which calls are turned away.'),
  memory_mb: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullable()
    .default(null)
    .describe('Memory of the process beyond which calls are turned away. Null: nine tenths of what there is.'),
  calls: watched(20_000, COUNT_MAX, 'Calls under way beyond which more are turned away.'),
  ledger_queue: watched(
    LIMITS.ledgerHoldQueueMax / 2,
    LIMITS.ledgerHoldQueueMax,
    'Waiting operations of the ledger beyond which calls are turned away.',
  ),
});

export interface ConfigRateLimit {
  /** Null: any number. */
  readonly requestsPerSecond: number | null;
  readonly burst: number;
  readonly calls: number | null;
  readonly streams: number | null;
}

/** Null: not watched. */
export interface ConfigLoadLimits {
  readonly eventLoopLagMs: number | null;
  readonly heapShare: number | null;
  readonly residentBytes: number | null;
  readonly callsUnderWay: number | null;
  readonly ledgerDepth: number | null;
}

export function readRateLimit(draft: z.infer<typeof rateLimitSchema>): ConfigRateLimit {
  return {
    requestsPerSecond: draft.requests_per_second,
    burst: draft.burst,
    calls: draft.calls,
    streams: draft.streams,
  };
}

export function readLoadLimits(draft: z.infer<typeof loadLimitsSchema>): ConfigLoadLimits {
  const { heap_percent: percent, memory_mb: megabytes } = draft;
  return {
    eventLoopLagMs: draft.event_loop_lag_ms,
    heapShare: percent === null ? null : percent / 100,
    residentBytes: megabytes === null ? Math.floor(memoryBytes() * 0.9) : megabytes * MEGABYTE,
    callsUnderWay: draft.calls,
    ledgerDepth: draft.ledger_queue,
  };
}
