import type { RateLimiter } from '../gateway/guards/rate-limiter.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import type { Store } from '../store/store.ts';

interface SharingTerms {
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes a key's rate limit hold across processes: each publishes the requests it admitted several times a second. */
export function shareRequests(
  { clock, log }: SharingTerms,
  rateLimiter: RateLimiter,
  store: Pick<Store, 'shareRequests'>,
): { stop(): void } {
  let isStopped = false;
  let timer = clock.after(LIMITS.requestShareMs, share, { unref: true });
  function share(): void {
    rateLimiter
      .share((taken) => store.shareRequests(taken))
      .catch((error: unknown) => log.debug(errorFields(error), 'Sharing request counts failed.'))
      .finally(() => {
        if (!isStopped) timer = clock.after(LIMITS.requestShareMs, share, { unref: true });
      });
  }
  return {
    stop: () => {
      isStopped = true;
      timer.cancel();
    },
  };
}
