import type { TokenCounter } from '../gateway/counting/token-counter.ts';
import { frameMemorySize } from '../gateway/frame-memories.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { RefusalLog } from '../gateway/refusal-log.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ConnectionLimit } from '../http1/connection-limit.ts';
import type { CacheSize } from '../kit/caches.ts';
import { LIMITS } from '../limits.ts';
import type { CallParts } from './call-parts.ts';
import type { Entrusted } from './custody.ts';
import { tableSizes } from './workers/thread-state.ts';

interface CallCaches {
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly refusals: RefusalLog;
  readonly entrusted: Entrusted;
  readonly countTokens: TokenCounter;
  readonly connectionLimit: ConnectionLimit;
}

/** What grows with calls in one worker. Tables and connections that workers share are reported by the first one. */
export function addCallCaches(parts: CallParts, own: CallCaches): void {
  const { caches, state, terms, books, isFirstWorker } = parts;
  const { metrics, refusals, entrusted, countTokens, connectionLimit } = own;
  const { loadLimits, store } = terms.config;
  if (isFirstWorker) caches.addAll(() => tableSizes(state));
  if (isFirstWorker) caches.add('client_connections', loadLimits.connections, () => connectionLimit.taken);
  // The workers share one writer of SQLite; on PostgreSQL each has caches of its own.
  if (isFirstWorker || store !== null) caches.addAll(() => books.store.cacheSizes());
  caches.addAll(() => countTokens.sizes());
  caches.addAll(() => refusals.sizes());
  caches.addAll(() => hostSizes(parts));
  caches.addAll(() => [frameMemorySize(usedCandidates(own.gateway))]);
  caches.add('model_series', LIMITS.modelSeriesMax, () => metrics.models);
  caches.add('provider_keys', LIMITS.cachedProviderKeysMax, () => entrusted.custody.keysCached);
  caches.add('caller_origins', LIMITS.callerOriginsMax, () => entrusted.egress.origins);
  caches.add('open_holds', loadLimits.callsUnderWay ?? Number.POSITIVE_INFINITY, () => books.ledger.openHolds);
  caches.add('ledger_queue', LIMITS.ledgerQueueMax, () => books.ledger.depth);
  const { tracing } = parts;
  if (tracing !== null) caches.add('trace_spans', tracing.waitingMax, () => tracing.waiting);
}

function hostSizes({ egress, health }: CallParts): CacheSize[] {
  const entriesMax = egress.connectionsMax * health.hosts;
  return [{ cache: 'host_connections', entries: egress.openConnections, entriesMax }, ...health.sizes()];
}

function usedCandidates(gateway: Gateway) {
  const hosts = gateway.hosts();
  return gateway
    .prices()
    .catalog.list()
    .flatMap((model) => hosts.usedCandidates(model));
}
