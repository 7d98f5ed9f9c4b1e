import { TokenCounter } from '../gateway/counting/token-counter.ts';
import type { Gateway, PricedCatalog } from '../gateway/gateway.ts';
import { BodyBudgets } from '../gateway/guards/body-budgets.ts';
import { CallSlots } from '../gateway/guards/call-slots.ts';
import { KeptBudget } from '../gateway/guards/kept-budget.ts';
import { Shutdown } from '../gateway/guards/shutdown.ts';
import { LearnedFactors } from '../gateway/token-factors.ts';
import type { HostDirectory } from '../hosts/directory.ts';
import type { HostsHealth } from '../hosts/hosts-health.ts';
import { BodyMemory } from '../http/body-memory.ts';
import { logCall } from '../http/call-log.ts';
import { Metrics } from '../http/metrics.ts';
import { ConnectionLimit } from '../http1/connection-limit.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { LiveServices } from '../operator/live.ts';
import type { AlertServices } from './alerts.ts';
import type { Books } from './books.ts';
import { callLimits } from './call-limits.ts';
import { type Entrusted, openCustody } from './custody.ts';
import { buildGuards, type Guards } from './guards.ts';
import type { HostSenders } from './host-senders.ts';
import { liveServices } from './live-services.ts';
import { openNotices } from './notices.ts';
import { openRefusalLog } from './refusals.ts';
import type { StartTerms } from './start-terms.ts';
import { watchTimers } from './timer-errors.ts';
import type { Tracing } from './trace-exporter.ts';
import type { Webhooks } from './webhooks.ts';

/** What a reload replaces. */
export interface InForce {
  prices: PricedCatalog;
  hosts: HostDirectory;
}

/** The services that calls use, and their metrics. */
export interface Core {
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly guards: Guards;
  readonly connectionLimit: ConnectionLimit;
  readonly bodyMemory: BodyMemory;
  readonly entrusted: Entrusted;
  readonly webhooks: Webhooks;
  readonly alerts: AlertServices;
  readonly live: LiveServices;
  close(): Promise<void>;
}

function learnFactors({ store }: Books, clock: Clock, log: Log): LearnedFactors {
  const factors = new LearnedFactors(store.directory, clock, (error) =>
    log.warn(errorFields(error), 'The overruns of counted prompts cannot be read or written.'),
  );
  void factors.read();
  return factors;
}

function observer(metrics: Metrics, alerts: AlertServices, log: Log, tracing: Tracing | null): Gateway['observe'] {
  return (record) => {
    metrics.observe(record);
    alerts.observe(record);
    logCall(log, record);
    tracing?.report(record);
  };
}

export function buildCore(
  { config, clock, log, world }: StartTerms,
  books: Books,
  inForce: InForce,
  egress: HostSenders,
  health: HostsHealth,
  tracing: Tracing | null,
): Core {
  const { ids, ledger } = books;
  const entrusted = openCustody({ config, clock, books, world });
  const countTokens = new TokenCounter(clock);
  const tokenFactors = learnFactors(books, clock, log);
  const shutdown = new Shutdown();
  shutdown.onDue(() => ledger.stopRetrying());
  const connectionLimit = new ConnectionLimit(config.loadLimits.connections);
  const bodyMemory = new BodyMemory();
  const timers = watchTimers(log);
  const metrics = new Metrics({
    callsUnderWay: () => shutdown.callsUnderWay,
    ledgerDepth: () => ledger.depth,
    hostConnections: () => egress.openConnections,
    clientConnections: () => connectionLimit.taken,
    clientConnectionsClosed: () => connectionLimit.closed,
    bodyBytes: () => bodyMemory.bytes,
    timerErrors: () => timers.errors,
    eventLoopLagMs: () => guards.eventLoopLagMs(),
    hosts: () => health.report(),
    logLinesDropped: () => log.dropped ?? 0,
    spansDropped: () => tracing?.dropped ?? 0,
    books: { sums: () => books.store.directory.bookSums(), clock },
    jobs: { sums: (nowMs) => books.store.jobs.sums(nowMs), clock },
    payers: config.metrics,
  });
  const guards = buildGuards({ config, clock, log, ledger, shutdown, count: (reason) => metrics.turnedAway(reason) });
  const refusals = openRefusalLog(books.store, clock, log);
  const { webhooks, alerts } = openNotices({ config, books, entrusted, clock, log, health, metrics: metrics.notices });
  const gateway: Gateway = {
    clock,
    ids,
    ledger,
    sealer: entrusted.keyring.sealer,
    keptBudget: new KeptBudget({ clock }),
    custody: entrusted.custody,
    countTokens,
    tokenFactors,
    usage: books.store.usage,
    refusals,
    tracing,
    observe: observer(metrics, alerts, log, tracing),
    limits: callLimits(config.limits),
    frameMemory: config.frameMemory,
    shutdown,
    bodyBudgets: new BodyBudgets(config.rateLimit, clock, (what) => metrics.turnedAway(what)),
    slots: new CallSlots(config.rateLimit, (what) => metrics.turnedAway(what)),
    prices: () => inForce.prices,
    hosts: () => inForce.hosts,
    health,
  };
  const close = async (): Promise<void> => {
    guards.close();
    timers.stop();
    await refusals.write();
    await entrusted.close();
    tokenFactors.close();
    await countTokens.close();
  };
  const live = liveServices({ config, clock, custody: entrusted.custody, alerts: alerts.alerts, health });
  return { gateway, metrics, guards, connectionLimit, bodyMemory, entrusted, webhooks, alerts, live, close };
}
