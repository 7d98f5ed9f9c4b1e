import type { Clock } from '../kit/clock.ts';
import { HostStanding, type HostState } from './host-health.ts';
import { RetryBudget } from './retry-budget.ts';

/** When a host is set aside and for how long; each can be set in the config file. */
export interface HealthSettings {
  /** Failures in a row that eject a host. */
  readonly consecutiveFailures: number;
  /** Or this share of at least so many calls, within the window. */
  readonly failurePercent: number;
  readonly failureCallsMin: number;
  readonly windowMs: number;
  /** An ejection lasts this long times how often the host was ejected, up to the most. */
  readonly ejectionMs: number;
  readonly ejectionMaxMs: number;
  /** A stream that begins later than this counts as a failure of its host. */
  readonly slowFirstByteMs: number;
  /** How long a host at its rate limit is left alone if it does not say, and the most it may say. */
  readonly limitedMs: number;
  readonly limitedMaxMs: number;
  /** How long a refused key, or a model the host does not know, is set aside. */
  readonly keyAsideMs: number;
  /** How often a host may count more than the bound before it is ejected. */
  readonly overruns: number;
  /** Second retries, as a share of all calls. */
  readonly retryPercent: number;
}

/** What one attempt tells about its host. */
export type HostSign =
  /** It did its part, be it a refusal of the caller's request; for streams, how long the first byte took. */
  | { readonly kind: 'well'; readonly firstByteMs: number | null }
  | { readonly kind: 'failed' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'key_refused'; readonly status: number }
  | { readonly kind: 'model_unknown'; readonly model: string }
  /** The caller left, or we are stopping. */
  | { readonly kind: 'nothing' };

/** What an operator wants to know of; told as it happens. */
export type HostEvent = { readonly host: string } & (
  | {
      readonly kind: 'ejected';
      readonly cause: 'failures' | 'failure_rate' | 'overruns';
      readonly forMs: number;
      readonly times: number;
    }
  | { readonly kind: 'probed' }
  | { readonly kind: 'returned' }
  | { readonly kind: 'limited'; readonly forMs: number }
  /** `isNews` is false where it was told before and nothing has changed since. */
  | { readonly kind: 'key_set_aside'; readonly status: number; readonly forMs: number; readonly isNews: boolean }
  | { readonly kind: 'model_set_aside'; readonly model: string; readonly forMs: number; readonly isNews: boolean }
);

export interface HostReport {
  readonly host: string;
  readonly state: HostState;
  readonly firstByteMs: number | null;
}

/** The standing of every host by its name. It outlives reloads: a new config does not make a sick host well. */
export class HostHealth {
  readonly retries: RetryBudget;
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  readonly #tell: (event: HostEvent) => void;
  readonly #standings = new Map<string, HostStanding>();

  constructor(settings: HealthSettings, clock: Clock, tell: (event: HostEvent) => void) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tell = tell;
    this.retries = new RetryBudget(settings.retryPercent);
  }

  /** Those of exactly these hosts: new ones begin well, the others keep what is known of them but for refusals. */
  standingsOf(
    hosts: readonly { readonly name: string; readonly hasKey: boolean }[],
  ): ReadonlyMap<string, HostStanding> {
    const nowMs = this.#clock.monotonicMs();
    const names = new Set(hosts.map(({ name }) => name));
    for (const name of this.#standings.keys()) if (!names.has(name)) this.#standings.delete(name);
    for (const { name, hasKey } of hosts) {
      const standing = this.#standings.get(name) ?? new HostStanding(name, this.#settings, this.#tell);
      standing.hasKey = hasKey;
      standing.forgetRefusals(nowMs);
      this.#standings.set(name, standing);
    }
    return new Map(this.#standings);
  }

  report(): HostReport[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#standings.values()].map((standing) => ({
      host: standing.host,
      state: standing.state(nowMs),
      firstByteMs: standing.firstByteMs,
    }));
  }
}
