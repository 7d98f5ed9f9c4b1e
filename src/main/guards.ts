import type { Caller } from '../accounts/authenticate.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Config } from '../config/config.ts';
import { accountEntry } from '../gateway/guards/account-share.ts';
import type { BodyMemory } from '../gateway/guards/body-memory.ts';
import { LoadWatch, overloaded } from '../gateway/guards/load.ts';
import {
  type RateLimit,
  type RateLimiter,
  TokenBuckets,
  tooManyOfAccount,
  tooManyRequests,
} from '../gateway/guards/rate-limiter.ts';
import { refuseUnread } from '../gateway/guards/response-room.ts';
import { WorkBudget } from '../gateway/guards/work-budget.ts';
import type { RunningCalls } from '../gateway/running-calls.ts';
import type { Clock } from '../kit/clock.ts';
import { MemoryRelief } from '../kit/idle-memory.ts';
import type { Log } from '../kit/log.ts';
import type { NumbersById } from '../kit/numbers-by-id.ts';
import { EventLoopWatch, heapShare, residentBytes } from '../kit/process-load.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HostSenders } from './host-senders.ts';
import type { ThreadState } from './workers/thread-state.ts';

/** Limits the requests of one key, and the load of the whole process. */
export interface Guards {
  /** Null if the request rate is unlimited. */
  readonly rateLimiter: RateLimiter | null;
  turnAway(caller: Caller, isCall: boolean): GatewayError | null;
  /** Whether calls are refused because of the load of the process. */
  isOverloaded(): boolean;
  eventLoopLagMs(): number;
  /** Calls of any worker that wait because a host has reached its limit of calls. */
  waitingForHosts(): number;
  /** The longest event-loop delay of any worker. */
  longestLagMs(): number;
  close(): void;
}

export interface GuardServices {
  readonly config: Pick<Config, 'rateLimit' | 'loadLimits'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'depth'>;
  readonly runningCalls: Pick<RunningCalls, 'countInProcess'>;
  readonly egress: Pick<HostSenders, 'waiting'>;
  readonly state: Pick<ThreadState, 'buckets' | 'figures'>;
  readonly answers: BodyMemory;
  /** Counts refused requests. */
  count(reason: string): void;
}

export function buildGuards(services: GuardServices): Guards {
  const { clock, count, egress, answers } = services;
  const { buckets, figures } = services.state;
  const { requestsPerSecond, burst, accountFactor } = services.config.rateLimit;
  const limit = requestsPerSecond === null ? null : { requestsPerSecond, burst };
  const rateLimiter = limit === null ? null : new TokenBuckets(limit, clock, buckets);
  const accounts = accountRates(limit, accountFactor, clock, buckets.fullAtMs);
  const eventLoop = new EventLoopWatch();
  const load = watchLoad(services, eventLoop);
  return {
    rateLimiter,
    turnAway: (caller, isCall) => {
      const { keyId } = caller;
      // Local calls without a key are the operator's own, so they have no rate limit.
      if (limit !== null && keyId !== null && !rateLimiter!.take(keyId)) {
        count('rate');
        return tooManyRequests(limit);
      }
      if (accounts !== null && keyId !== null && !accounts.take(accountEntry(caller.accountId), 1)) {
        count('account_rate');
        return tooManyOfAccount(limit!, accountFactor!);
      }
      const unread = refuseUnread(answers, caller);
      if (unread !== null) {
        count('unread');
        return unread;
      }
      const reason = isCall ? load.reason() : null;
      if (reason === null) return null;
      count(reason);
      return overloaded();
    },
    isOverloaded: () => load.reason() !== null,
    eventLoopLagMs: () => load.lagMs,
    waitingForHosts: () => {
      figures.publish('waitingForHosts', egress.waiting);
      return figures.sum('waitingForHosts');
    },
    longestLagMs: () => figures.most('lagMs'),
    close: () => {
      load.stop();
      eventLoop.stop();
    },
  };
}

/** Each process counts for itself. */
function accountRates(
  limit: RateLimit | null,
  factor: number | null,
  clock: Clock,
  fullAtMs: NumbersById,
): WorkBudget | null {
  if (limit === null || factor === null) return null;
  return new WorkBudget(limit.requestsPerSecond * factor, limit.burst * factor, clock, fullAtMs);
}

/** A worker also publishes what it measures, because some limits are about all workers together. */
function watchLoad(services: GuardServices, eventLoop: EventLoopWatch): LoadWatch {
  const { config, clock, log, ledger, runningCalls, egress, state } = services;
  const { figures } = state;
  const memory = new MemoryRelief(clock);
  return new LoadWatch({
    gauges: {
      eventLoopLagMs: () => {
        const lagMs = eventLoop.lagMs();
        figures.publish('lagMs', lagMs);
        figures.publish('waitingForHosts', egress.waiting);
        return lagMs;
      },
      heapShare,
      residentBytes,
      callsUnderWay: () => runningCalls.countInProcess,
      ledgerDepth: () => {
        figures.publish('ledgerDepth', ledger.depth);
        return figures.sum('ledgerDepth');
      },
    },
    limits: config.loadLimits,
    clock,
    onChange: (reason) => {
      if (reason === null) log.info({}, 'Load is back to normal: calls are admitted again.');
      else log.warn({ reason }, 'Overloaded: new calls are refused.');
    },
    relieve: () => memory.relieve(),
  });
}
