import type { Caller } from '../accounts/authenticate.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Config } from '../config/config.ts';
import { LoadWatch, overloaded } from '../gateway/guards/load.ts';
import { type RateLimiter, TokenBuckets, tooManyRequests } from '../gateway/guards/rate-limiter.ts';
import type { Shutdown } from '../gateway/guards/shutdown.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { EventLoopWatch, heapShare, residentBytes } from '../kit/process-load.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Limits the requests of one key, and the load of the whole process. */
export interface Guards {
  /** Null if the request rate is unlimited. */
  readonly rateLimiter: RateLimiter | null;
  turnAway(caller: Caller, isCall: boolean): GatewayError | null;
  /** Whether calls are refused because of the load of the process. */
  isOverloaded(): boolean;
  eventLoopLagMs(): number;
  close(): void;
}

export interface GuardServices {
  readonly config: Pick<Config, 'rateLimit' | 'loadLimits'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'depth'>;
  readonly shutdown: Pick<Shutdown, 'callsUnderWay'>;
  /** Counts refused requests. */
  count(reason: string): void;
}

export function buildGuards(services: GuardServices): Guards {
  const { clock, count } = services;
  const { requestsPerSecond, burst } = services.config.rateLimit;
  const limit = requestsPerSecond === null ? null : { requestsPerSecond, burst };
  const rateLimiter = limit === null ? null : new TokenBuckets(limit, clock);
  const eventLoop = new EventLoopWatch();
  const load = watchLoad(services, eventLoop);
  return {
    rateLimiter,
    turnAway: ({ keyId }, isCall) => {
      // Local calls without a key are the operator's own, so they have no rate limit.
      if (limit !== null && keyId !== null && !rateLimiter!.take(keyId)) {
        count('rate');
        return tooManyRequests(limit);
      }
      const reason = isCall ? load.reason() : null;
      if (reason === null) return null;
      count(reason);
      return overloaded();
    },
    isOverloaded: () => load.reason() !== null,
    eventLoopLagMs: () => load.lagMs,
    close: () => {
      load.stop();
      eventLoop.stop();
    },
  };
}

function watchLoad({ config, clock, log, ledger, shutdown }: GuardServices, eventLoop: EventLoopWatch): LoadWatch {
  return new LoadWatch({
    gauges: {
      eventLoopLagMs: () => eventLoop.lagMs(),
      heapShare,
      residentBytes,
      callsUnderWay: () => shutdown.callsUnderWay,
      ledgerDepth: () => ledger.depth,
    },
    limits: config.loadLimits,
    clock,
    onChange: (reason) => {
      if (reason === null) log.info({}, 'Load is back to normal: calls are admitted again.');
      else log.warn({ reason }, 'Overloaded: new calls are refused.');
    },
  });
}
