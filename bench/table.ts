import type { Child } from './child.ts';
import type { Figures } from './measure.ts';
import type { Shape } from './traffic.ts';

/** What one contender did in one shape of traffic, round by round. */
export interface Row {
  readonly name: string;
  readonly child: Child;
  readonly shape: Shape;
  readonly rounds: readonly Round[];
}

export interface Round extends Figures {
  /** How long a fixed computation took on the measured core, before the round or after it: the longer of both. */
  readonly coreMs: number;
}

/** A core was at full speed if the fixed computation took no longer than this many times its shortest time. */
const FULL_SPEED_FACTOR = 1.15;
const FULL_SPEED_ROUNDS_MIN = 5;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Merges rows of the same name and shape into one, which has the rounds of all of them, one row after the other. */
export function joinByName(rows: readonly Row[]): Row[] {
  const alike = Map.groupBy(rows, ({ name, shape }) => `${shape} ${name}`);
  return [...alike.values()].map((group) => ({ ...group[0]!, rounds: group.flatMap(({ rounds }) => rounds) }));
}

/** How many times the other's figure, as the median of the rounds' own ratios. */
export function ratio(row: Row, other: Row, figure: (figures: Figures) => number): number {
  return median(ratios(row, other, figure));
}

function ratios(row: Row, other: Row, figure: (figures: Figures) => number): number[] {
  return row.rounds.map((figures, at) => figure(figures) / figure(other.rounds[at]!));
}

/** The ratio, and the quartiles of the rounds' own ratios. */
export function ratioText(row: Row, other: Row, figure: (figures: Figures) => number): string {
  const sorted = ratios(row, other, figure).toSorted((a, b) => a - b);
  const quartile = (part: number): string => sorted[Math.round(part * (sorted.length - 1))]!.toFixed(3);
  return `${median(sorted).toFixed(3)} (${quartile(0.25)} to ${quartile(0.75)})`;
}

/** The ratio in the rounds in which the core was at full speed for both, and their number; null if they are too few. */
export function ratioAtFullSpeed(
  row: Row,
  other: Row,
  figure: (figures: Figures) => number,
): { readonly ratio: number; readonly rounds: number } | null {
  const fastestMs = Math.min(...[...row.rounds, ...other.rounds].map(({ coreMs }) => coreMs));
  const isFast = ({ coreMs }: Round): boolean => coreMs <= fastestMs * FULL_SPEED_FACTOR;
  const fast = ratios(row, other, figure).filter((_, at) => isFast(row.rounds[at]!) && isFast(other.rounds[at]!));
  return fast.length < FULL_SPEED_ROUNDS_MIN ? null : { ratio: median(fast), rounds: fast.length };
}

/** The mean of the lowest tenth of the rounds: what neighbours of the machine do can make a round more expensive, never cheaper. */
export function lowest({ rounds }: Row, figure: (figures: Figures) => number): number {
  const sorted = rounds.map(figure).sort((a, b) => a - b);
  const best = sorted.slice(0, Math.ceil(sorted.length / 10));
  return best.reduce((sum, value) => sum + value, 0) / best.length;
}

const rate = ({ perSecond }: Figures): number => perSecond;

const COLUMNS = ['', 'requests/s', 'lowest', 'highest', 'p50 ms', 'p99 ms', 'CPU µs', 'own core', 'other core'];

/** Medians of the rounds, and each contender's ratio to the reference contenders. */
export function renderTable(rows: readonly Row[], yardsticks: readonly Row[]): string {
  const header = [...COLUMNS, ...yardsticks.map(({ name }) => `÷ ${name.split(/[ ,]/)[0]}`)];
  const lines = rows.map((row) => [
    ...figuresOf(row),
    ...yardsticks.map((other) => ratio(row, other, rate).toFixed(2)),
  ]);
  const widths = header.map((_, column) => Math.max(...[header, ...lines].map((line) => line[column]!.length)));
  return [header, ...lines].map((line) => pad(line, widths)).join('\n');
}

function figuresOf({ name, rounds }: Row): string[] {
  const rates = rounds.map(({ perSecond }) => perSecond);
  return [
    name,
    median(rates).toFixed(0),
    Math.min(...rates).toFixed(0),
    Math.max(...rates).toFixed(0),
    median(rounds.map(({ p50Ms }) => p50Ms)).toFixed(1),
    median(rounds.map(({ p99Ms }) => p99Ms)).toFixed(1),
    median(rounds.map(({ cpuMicros }) => cpuMicros)).toFixed(0),
    percent(median(rounds.map(({ ownCoreBusy }) => ownCoreBusy))),
    percent(median(rounds.map(({ otherCoreBusy }) => otherCoreBusy))),
  ];
}

function percent(part: number): string {
  return `${(100 * part).toFixed(0)} %`;
}

function pad(line: readonly string[], widths: readonly number[]): string {
  return line.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join('  ');
}
