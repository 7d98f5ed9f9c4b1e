/** Limits of gateways with several workers. */
export const WORKER_LIMITS = {
  /** Workers of one process. */
  workersMax: 8,
  /** Bytes of one request or response that may be on their way between two workers. */
  workerWindowBytes: 256 * 1024,
  /** How often a worker hands over its log lines, and who paid for its calls. */
  workerLogMs: 20,
  workerPayersMs: 1_000,
  /** How long a worker may take to start, and to add its numbers to the metrics. */
  workerStartMs: 45_000,
  workerMetricsMs: 5_000,
} as const;
