import type { MetricsPart } from '../../http/metrics.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

interface GatheringTerms {
  readonly clock: Clock;
  /** How many workers are asked. */
  readonly workers: number;
  /** Asks a worker for its part of this scrape; returns false if the worker has ended. */
  ask(worker: number, scrape: number): boolean;
}

/**
 * The metrics of the other workers. One that does not answer in time, or has ended, keeps the counters that it last
 * reported: a counter that falls looks like a new process, and Prometheus would count all of it again.
 */
export class GatheredMetrics {
  readonly #terms: GatheringTerms;
  readonly #scrapes = new Map<number, Scrape>();
  readonly #lastParts = new Map<number, MetricsPart>();
  #lastScrape = 0;

  constructor(terms: GatheringTerms) {
    this.#terms = terms;
  }

  gather(): Promise<readonly MetricsPart[]> {
    const { clock, workers, ask } = this.#terms;
    const number = ++this.#lastScrape;
    return new Promise((resolve) => {
      const answered = new Set<number>();
      const finish = (): void => {
        timer.cancel();
        this.#scrapes.delete(number);
        resolve([...this.#lastParts].map(([worker, part]) => (answered.has(worker) ? part : countersOf(part))));
      };
      const timer = clock.after(LIMITS.workerMetricsMs, finish, { unref: true });
      const asked = Array.from({ length: workers }, (_, worker) => worker).filter((worker) => ask(worker, number));
      if (asked.length === 0) finish();
      else this.#scrapes.set(number, { asked: asked.length, answered, finish });
    });
  }

  receive(worker: number, number: number, part: MetricsPart): void {
    this.#lastParts.set(worker, part);
    const scrape = this.#scrapes.get(number);
    scrape?.answered.add(worker);
    if (scrape !== undefined && scrape.answered.size === scrape.asked) scrape.finish();
  }
}

interface Scrape {
  readonly asked: number;
  readonly answered: Set<number>;
  finish(): void;
}

/** Without gauges, which are about the present. */
function countersOf(part: MetricsPart): MetricsPart {
  return part.filter(({ type }) => String(type) !== 'gauge');
}
