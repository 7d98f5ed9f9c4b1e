import type { CacheSize } from '../kit/caches.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { HealthSettings } from './health-settings.ts';
import { HostHealth, type HostState } from './host-health.ts';
import type { HostEvent, HostNews } from './host-sign.ts';
import { RetryBudget } from './retry-budget.ts';

export interface HostReport {
  readonly host: string;
  readonly state: HostState;
  /** It refuses requests, probably because our account there cannot pay. */
  readonly isRefusing: boolean;
  readonly firstByteMs: number | null;
  /** The newest first. */
  readonly events: readonly NotedEvent[];
}

/** Something that happened to a host, and when. */
interface NotedEvent {
  readonly atMs: number;
  readonly event: HostEvent;
}

/** The health of every host, by name. It survives reloads: a new config does not heal a host. */
export class HostsHealth {
  readonly retries: RetryBudget;
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  readonly #tell: (event: HostEvent) => void;
  readonly #share: (news: HostNews) => void;
  readonly #healths = new Map<string, HostHealth>();
  readonly #events = new Map<string, readonly NotedEvent[]>();

  /** Events are reported to the operator; `share` passes on what the other threads need. */
  constructor(
    settings: HealthSettings,
    clock: Clock,
    tell: (event: HostEvent) => void,
    share: (news: HostNews) => void = () => {},
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#share = share;
    this.#tell = (event) => {
      this.#note(event);
      tell(event);
      share(event);
    };
    this.retries = new RetryBudget(settings.retryPercent);
  }

  /** Keeps these hosts and forgets the others. New ones start healthy; the rest keep their state, except for refusals. */
  track(hosts: readonly { readonly name: string; readonly hasKey: boolean }[]): ReadonlyMap<string, HostHealth> {
    const nowMs = this.#clock.monotonicMs();
    const names = new Set(hosts.map(({ name }) => name));
    for (const name of this.#healths.keys())
      if (!names.has(name)) {
        this.#healths.delete(name);
        this.#events.delete(name);
      }
    for (const { name, hasKey } of hosts) {
      const health = this.#healths.get(name) ?? new HostHealth(name, this.#settings, this.#tell, this.#share);
      health.hasKey = hasKey;
      health.forgetRefusals(nowMs);
      this.#healths.set(name, health);
    }
    return new Map(this.#healths);
  }

  /** Learns what another thread has shared. */
  adopt(news: HostNews): void {
    const health = this.#healths.get(news.host);
    if (health === undefined) return;
    health.adopt(news, this.#clock.monotonicMs());
    if (isEvent(news)) this.#note(news);
  }

  /** How many hosts are tracked. */
  get hosts(): number {
    return this.#healths.size;
  }

  sizes(): CacheSize[] {
    const [hosts, events] = [[...this.#healths.values()], [...this.#events.values()]];
    return [
      {
        cache: 'models_aside',
        entries: hosts.reduce((sum, { modelsAside }) => sum + modelsAside, 0),
        entriesMax: hosts.length * LIMITS.hostModelsAsideMax,
      },
      {
        cache: 'host_events',
        entries: events.reduce((sum, { length }) => sum + length, 0),
        entriesMax: hosts.length * LIMITS.hostEventsMax,
      },
    ];
  }

  report(): HostReport[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#healths.values()].map((health) => ({
      host: health.host,
      state: health.state(nowMs),
      isRefusing: health.isRefusing,
      firstByteMs: health.firstByteMs,
      events: this.#events.get(health.host) ?? [],
    }));
  }

  #note(event: HostEvent): void {
    const noted = { atMs: this.#clock.nowMs(), event };
    const earlier = this.#events.get(event.host) ?? [];
    this.#events.set(event.host, [noted, ...earlier].slice(0, LIMITS.hostEventsMax));
  }
}

function isEvent(news: HostNews): news is HostEvent {
  return !['failed', 'answered', 'overran', 'unprobed'].includes(news.kind);
}
