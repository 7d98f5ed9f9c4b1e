import { Counter, type Histogram, type Registry } from 'prom-client';

/**
 * Counters and histograms that are added to with every call and read once in a while: plain numbers, which the library
 * for metrics reads when it is asked. Its own take apart and put together all labels with every addition.
 */
export interface TallyTerms {
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
 * What belongs to one set of label values, found by these values in the order of their names. One map leads to the
 * next: the values are texts that have been looked up before, and a text made of all of them would be new every time.
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

  /** In the order in which they came up. */
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

  /** For who adds to the same one again and again. */
  at(first?: string, second?: string, third?: string): { count: number } {
    return this.#series.at(first, second, third);
  }
}

interface Observed {
  /** How many fell into each bucket and no smaller one; the last is beyond all bounds. */
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

  /** As the text format wants them: buckets that hold all smaller ones, the sum and the count. */
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
