import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ModelRow } from '../src/catalog/schema.ts';
import { type Config, loadConfig, type Transport } from '../src/config/config.ts';
import type { ConfiguredHost, HostRow } from '../src/hosts/host.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';
import { systemClock } from '../src/kit/clock.ts';
import { giveBackWhenIdle } from '../src/kit/idle-memory.ts';
import { createLog } from '../src/kit/log.ts';
import { tuneHeap } from '../src/main/heap.ts';
import { startGateway } from '../src/main/start.ts';
import type { SqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { announce, readTerms } from './child.ts';
import { CommitTimer } from './commit-times.ts';
import { CATALOG_MODEL, UPSTREAM_MODEL } from './traffic.ts';

/** The gateway as it is run for others: hosted, every call with a key, a log line and durable money. */
export interface TollgateTerms {
  readonly folder: string;
  readonly upstreamPort: number;
  readonly transport: Transport;
  /** Threads that serve calls; absent: one. */
  readonly workers?: number;
  /** Traces every call, and sends the spans to this collector. */
  readonly tracesTo?: string;
  /** Whether it answers questions about its batches; they are not free. */
  readonly timesBatches?: boolean;
}

export interface TollgateHello {
  readonly port: number;
}

export interface BooksReport {
  readonly receipts: number;
  readonly openHolds: number;
  readonly violations: readonly string[];
}

const { folder, upstreamPort, transport, workers = 1, tracesTo, timesBatches = false } = readTerms<TollgateTerms>();

const running = await startGateway({
  config: hostedConfig(),
  hosts: [host()],
  clock: systemClock,
  workers,
  log: createLog({ level: 'info', destination: join(folder, 'calls.log') }),
  onFatal: (error) => {
    throw error;
  },
});

// The calls it is filled with are old: a gateway that had served them would have closed them long ago, so closing them
// must not be part of the measurement.
await running.books.store.closeBooks(null);
tuneHeap();
giveBackWhenIdle();

function hostedConfig(): Config {
  const flags = { data: folder, port: '0', operationsPort: '0', hosted: true, sim: false, transport };
  // The limits are enforced, but too high to be reached.
  const rateLimit = {
    requestsPerSecond: 1_000_000,
    burst: 1_000_000,
    bodyBytesPerSecond: 1e12,
    jsonMembersPerSecond: 1e12,
    calls: null,
    streams: 1_000_000,
    accountFactor: null,
  };
  const masterKey = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') };
  const env = tracesTo === undefined ? masterKey : { ...masterKey, OTEL_EXPORTER_OTLP_ENDPOINT: tracesTo };
  const config = loadConfig({ argvFlags: flags, env, cwd: folder });
  return {
    ...config,
    // Every account is watched, but none causes an alert.
    alerts: { ...config.alerts, balanceBelowNanousd: 1 },
    rateLimit,
    models: [model()],
  };
}

function host(): ConfiguredHost {
  const base = HOST_ROWS.find((row) => row.name === 'openai')!;
  const row: HostRow = { ...base, name: 'bench', baseUrl: `http://127.0.0.1:${upstreamPort}/v1` };
  return { row, key: null, keySource: null, local: false, models: [] };
}

function model(): ModelRow {
  return {
    id: CATALOG_MODEL,
    context_window: 128_000,
    max_output_tokens: 16_384,
    caps: ['chat', 'tools'],
    price: { input: 150_000_000, output: 600_000_000, cache_read: 75_000_000 },
    hosts: [{ host: 'bench', model: UPSTREAM_MODEL }],
  };
}

const timer = timesBatches ? new CommitTimer(running.books.ledger, running.books.store as SqliteStore) : null;

process.on('message', (question: 'verify' | 'batches') => {
  if (question === 'batches') {
    process.send!(timer!.report());
    return;
  }
  void running.books.ledger.verify(undefined, null, false).then(({ receipts, openHolds, violations }) => {
    process.send!({ receipts: Number(receipts), openHolds: Number(openHolds), violations } satisfies BooksReport);
  });
});
process.once('SIGTERM', () => void running.stop().then(() => process.exit()));
announce({ port: Number(new URL(running.url).port) } satisfies TollgateHello);
