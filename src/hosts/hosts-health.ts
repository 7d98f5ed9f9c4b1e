import type { Clock } from '../kit/clock.ts';
import type { HealthSettings } from './health-settings.ts';
import { HostHealth, type HostState } from './host-health.ts';
import type { HostEvent } from './host-sign.ts';
import { RetryBudget } from './retry-budget.ts';

export interface HostReport {
  readonly host: string;
  readonly state: HostState;
  readonly firstByteMs: number | null;
}

/** The health of every host, by name. It survives reloads: a new config does not heal a host. */
export class HostsHealth {
  readonly retries: RetryBudget;
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  readonly #tell: (event: HostEvent) => void;
  readonly #healths = new Map<string, HostHealth>();

  constructor(settings: HealthSettings, clock: Clock, tell: (event: HostEvent) => void) {
    this.#settings = settings;
    this.#clock = clock;
    this.#tell = tell;
    this.retries = new RetryBudget(settings.retryPercent);
  }

  /** Keeps these hosts and forgets the others. New ones start healthy; the rest keep their state, except for refusals. */
  track(hosts: readonly { readonly name: string; readonly hasKey: boolean }[]): ReadonlyMap<string, HostHealth> {
    const nowMs = this.#clock.monotonicMs();
    const names = new Set(hosts.map(({ name }) => name));
    for (const name of this.#healths.keys()) if (!names.has(name)) this.#healths.delete(name);
    for (const { name, hasKey } of hosts) {
      const health = this.#healths.get(name) ?? new HostHealth(name, this.#settings, this.#tell);
      health.hasKey = hasKey;
      health.forgetRefusals(nowMs);
      this.#healths.set(name, health);
    }
    return new Map(this.#healths);
  }

  report(): HostReport[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#healths.values()].map((health) => ({
      host: health.host,
      state: health.state(nowMs),
      firstByteMs: health.firstByteMs,
    }));
  }
}
