import { Counter, type Histogram, type Registry } from 'prom-client';

/**
 * Counters and histograms as plain numbers that prom-client reads when it is scraped. Its own counters build a key from
 * all labels with every addition, and every call makes several.
 */
interface TallyTerms {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
}

type Labels = Record<string, string>;

interface Labelled<Value> {
  readonly labels: Labels;
  readonly value: Value;
}

/**
 * Values by their labels, in the order of the label names. Nested maps, because a combined key would be a new string for
 * every look-up, which has to be hashed again.
 */
class Series<Value> {
  readonly #labelNames: readonly string[];
  readonly #open: () => Value;
  readonly #byFirst = new Map<string, Map<string, Map<string, Value>>>();
  readonly #all: Labelled<Value>[] = [];

  constructor(labelNames: readonly string[], open: () => Value) {
    this.#labelNames = labelNames;
    this.#open = open;
  }

  at(first = '', second = '', third = ''): Value {
    return this.#byFirst.get(first)?.get(second)?.get(third) ?? this.#add(first, second, third);
  }

  #add(first: string, second: string, third: string): Value {
    const values = [first, second, third];
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index]!]));
    const value = this.#open();
    const bySecond = this.#byFirst.get(first) ?? new Map<string, Map<string, Value>>();
    const byThird = bySecond.get(second) ?? new Map<string, Value>();
    this.#byFirst.set(first, bySecond.set(second, byThird.set(third, value)));
    this.#all.push({ labels, value });
    return value;
  }

  /** In the order in which they were added. */
  get all(): readonly Labelled<Value>[] {
    return this.#all;
  }
}

export class CounterTally {
  readonly #series: Series<{ count: number }>;

  constructor({ name, help, labelNames, registry }: TallyTerms) {
    const series = new Series(labelNames, () => ({ count: 0 }));
    this.#series = series;
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, value } of series.all) this.inc(labels, value.count);
      },
    });
  }

  add(by: number, first?: string, second?: string, third?: string): void {
    this.#series.at(first, second, third).count += by;
  }

  /** The counter itself, for callers that add to it often. */
  at(first?: string, second?: string, third?: string): { count: number } {
    return this.#series.at(first, second, third);
  }
}

interface Observed {
  /** Observations per bucket, not cumulative; the last bucket has no bound. */
  readonly counts: number[];
  sum: number;
}

export class HistogramTally {
  readonly #bounds: readonly number[];
  readonly #series: Series<Observed>;

  constructor({ name, help, labelNames, registry }: TallyTerms, bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#series = new Series(labelNames, () => ({ counts: Array(bounds.length + 1).fill(0), sum: 0 }));
    const read = () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values(name) });
    const metric = { name, help, type: 'histogram', aggregator: 'sum', get: async () => read(), reset: () => {} };
    registry.registerMetric(metric as unknown as Histogram);
  }

  observe(value: number, first?: string, second?: string): void {
    const observed = this.#series.at(first, second);
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++;
    observed.counts[bucket]!++;
    observed.sum += value;
  }

  /** Cumulative buckets, sum and count, as the text format has them. */
  #values(name: string) {
    return this.#series.all.flatMap(({ labels, value: { counts, sum } }) => {
      let upTo = 0;
      const buckets = [...this.#bounds, '+Inf'].map((le, index) => {
        upTo += counts[index]!;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: upTo };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: upTo },
      ];
    });
  }
}
