import { TokenCounter } from '../gateway/counting/token-counter.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { BodyBudgets } from '../gateway/guards/body-budgets.ts';
import { BodyMemory } from '../gateway/guards/body-memory.ts';
import { CallSlots } from '../gateway/guards/call-slots.ts';
import { DeploymentWork } from '../gateway/guards/deployment-work.ts';
import { KeptBudget } from '../gateway/guards/kept-budget.ts';
import { responseMemory } from '../gateway/guards/response-room.ts';
import { RunningCalls } from '../gateway/running-calls.ts';
import { LearnedFactors } from '../gateway/token-factors.ts';
import { logCall } from '../http/call-log.ts';
import { type MetricSources, Metrics } from '../http/metrics.ts';
import { ConnectionLimit } from '../http1/connection-limit.ts';
import type { Caches } from '../kit/caches.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Books } from './books.ts';
import { addCallCaches } from './call-caches.ts';
import { callLimits } from './call-limits.ts';
import type { CallParts } from './call-parts.ts';
import { type Entrusted, openCustody } from './custody.ts';
import { buildGuards, type Guards } from './guards.ts';
import { openRefusalLog } from './refusals.ts';
import { watchTimers } from './timer-errors.ts';

/** The services that calls use, and their metrics: one worker has one of each. */
export interface CallCore {
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly guards: Guards;
  readonly connectionLimit: ConnectionLimit;
  readonly bodyMemory: BodyMemory;
  readonly entrusted: Entrusted;
  readonly caches: Caches;
  close(): Promise<void>;
}

export function buildCallCore(parts: CallParts): CallCore {
  const { terms, books, inForce, egress, health, tracing, state } = parts;
  const { config, clock, log, world } = terms;
  const { ids, ledger } = books;
  const entrusted = openCustody({ config, clock, books, world, masterKeys: parts.masterKeys });
  const countTokens = new TokenCounter(clock);
  const tokenFactors = learnFactors(books, clock, log);
  const runningCalls = new RunningCalls(state.calls);
  runningCalls.onCutOff(() => ledger.stopRetrying());
  const connectionLimit = new ConnectionLimit(config.loadLimits.connections, state.connections);
  const bodyMemory = new BodyMemory(state.bodies);
  const answers = responseMemory(state.answers);
  const timers = watchTimers(log);
  const sources = { runningCalls, connectionLimit, bodyMemory, timerErrors: () => timers.errors };
  const metrics = new Metrics(metricSources(parts, { ...sources, lagMs: () => guards.eventLoopLagMs() }), parts);
  const count = (reason: string): void => metrics.turnedAway(reason);
  const guards = buildGuards({ config, clock, log, ledger, runningCalls, egress, state, answers, count });
  const refusals = openRefusalLog(books.store, clock, log);
  const gateway: Gateway = {
    clock,
    ids,
    ledger,
    sealer: entrusted.keyring.sealer,
    keptBudget: new KeptBudget({ clock, wholeAtMs: state.kept }),
    custody: entrusted.custody,
    countTokens,
    tokenFactors,
    usage: books.store.usage,
    refusals,
    tracing,
    observe: observer(metrics, parts),
    limits: callLimits(config.limits),
    frameMemory: config.frameMemory,
    runningCalls,
    bodyBudgets: new BodyBudgets(config.rateLimit, clock, count, state.bodySpending),
    deploymentWork: new DeploymentWork(clock),
    answers,
    slots: new CallSlots(config.rateLimit, count, state.slots),
    prices: () => inForce.prices,
    hosts: () => inForce.hosts,
    health,
  };
  addCallCaches(parts, { gateway, metrics, refusals, entrusted, countTokens, connectionLimit });
  const close = async (): Promise<void> => {
    guards.close();
    timers.stop();
    await refusals.write();
    await entrusted.close();
    tokenFactors.close();
    await countTokens.close();
  };
  return { gateway, metrics, guards, connectionLimit, bodyMemory, entrusted, caches: parts.caches, close };
}

function learnFactors({ store }: Pick<Books, 'store'>, clock: Clock, log: Log): LearnedFactors {
  const factors = new LearnedFactors(store.directory, clock, (error) =>
    log.warn(errorFields(error), 'The overruns of counted prompts cannot be read or written.'),
  );
  void factors.read();
  return factors;
}

function observer(metrics: Metrics, { terms, tracing, notePayer }: CallParts): Gateway['observe'] {
  return (record) => {
    metrics.observe(record);
    notePayer(record);
    logCall(terms.log, record);
    tracing?.report(record);
  };
}

interface OwnSources {
  readonly runningCalls: RunningCalls;
  readonly connectionLimit: ConnectionLimit;
  readonly bodyMemory: BodyMemory;
  timerErrors(): number;
  lagMs(): number;
}

/** Connections and bodies are counted for all workers together, so only the first one reports these. */
function metricSources({ terms, books, egress, health, tracing, ...parts }: CallParts, own: OwnSources): MetricSources {
  const { config, clock, log } = terms;
  const { runningCalls, connectionLimit, bodyMemory, timerErrors, lagMs } = own;
  const { store, ledger } = books;
  return {
    callsUnderWay: () => runningCalls.count,
    ledgerDepth: () => ledger.depth,
    hostConnections: () => egress.openConnections,
    clientConnections: () => (parts.isFirstWorker ? connectionLimit.taken : 0),
    clientConnectionsClosed: () => connectionLimit.closed,
    bodyBytes: () => (parts.isFirstWorker ? bodyMemory.bytes : 0),
    timerErrors,
    eventLoopLagMs: lagMs,
    hosts: () => health.report(),
    logLinesDropped: () => log.dropped ?? 0,
    spansDropped: () => tracing?.dropped ?? 0,
    caches: () => parts.caches.sizes(),
    books: { sums: () => store.directory.bookSums(), clock },
    jobs: { sums: (nowMs) => store.jobs.sums(nowMs), clock },
    payers: config.metrics,
    ...(parts.otherWorkers && { otherWorkers: parts.otherWorkers }),
  };
}
