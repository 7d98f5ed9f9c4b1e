/** One value of a plot: how much of something in a bucket of time. */
export interface Point {
  readonly start: number;
  readonly name: string;
  readonly label: string;
  readonly value: bigint;
}

interface Series {
  readonly name: string;
  readonly label: string;
  readonly colour: string;
  /** One per bucket. */
  readonly values: readonly bigint[];
  readonly total: bigint;
}

export interface Plot {
  readonly starts: readonly number[];
  readonly series: readonly Series[];
  /** The sums of all series, one per bucket. */
  readonly totals: readonly bigint[];
}

const SERIES_MAX = 5;
const COLOURS = ['var(--series-1)', 'var(--series-2)', 'var(--series-3)', 'var(--series-4)', 'var(--series-5)'];
const OTHERS = 'others';

/** The largest series and the sum of all others, with a value for every bucket, even where nothing happened. */
export function buildPlot(points: readonly Point[], starts: readonly number[]): Plot {
  const byName = Map.groupBy(points, ({ name }) => name);
  const all = [...byName].map(([name, own]) => ({ name, label: own[0]!.label, ...valuesOf(own, starts) }));
  const ranked = all
    .filter(({ total }) => total > 0n)
    .toSorted((a, b) => (a.total === b.total ? 0 : a.total > b.total ? -1 : 1));
  const shown = ranked.length > SERIES_MAX ? ranked.slice(0, SERIES_MAX - 1) : ranked;
  const rest = ranked.slice(shown.length);
  const series = shown.map((each, at) => ({ ...each, colour: COLOURS[at]! }));
  const others: Series[] =
    rest.length === 0
      ? []
      : [
          {
            name: OTHERS,
            label: `${rest.length} others`,
            colour: 'var(--series-others)',
            values: starts.map((_, at) => sum(rest.map(({ values }) => values[at]!))),
            total: sum(rest.map(({ total }) => total)),
          },
        ];
  const complete = [...series, ...others];
  return { starts, series: complete, totals: starts.map((_, at) => sum(complete.map(({ values }) => values[at]!))) };
}

function valuesOf(points: readonly Point[], starts: readonly number[]): { values: bigint[]; total: bigint } {
  const byStart = new Map<number, bigint>();
  for (const { start, value } of points) byStart.set(start, (byStart.get(start) ?? 0n) + value);
  const values = starts.map((start) => byStart.get(start) ?? 0n);
  return { values, total: sum(values) };
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Where the buckets between two times begin. They are those of the server: hours, days, weeks from Monday, months, in UTC. */
export function bucketStarts(bucket: 'hour' | 'day' | 'week' | 'month', since: number, until: number): number[] {
  const starts: number[] = [];
  for (let start = startOf(bucket, since); start < until; start = next(bucket, start)) starts.push(start);
  return starts;
}

function startOf(bucket: 'hour' | 'day' | 'week' | 'month', seconds: number): number {
  if (bucket === 'hour') return seconds - (seconds % HOUR);
  const day = seconds - (seconds % DAY);
  const date = new Date(day * 1000);
  if (bucket === 'day') return day;
  if (bucket === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY;
  return day - (date.getUTCDate() - 1) * DAY;
}

function next(bucket: 'hour' | 'day' | 'week' | 'month', start: number): number {
  if (bucket === 'hour') return start + HOUR;
  if (bucket === 'day') return start + DAY;
  if (bucket === 'week') return start + 7 * DAY;
  const date = new Date(start * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000;
}

/** Round numbers from zero to at least the largest value. */
export function ticksFor(max: number, count = 3): number[] {
  if (max <= 0) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power;
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, at) => at * step);
}
