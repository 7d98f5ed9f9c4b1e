import { randomInt } from 'node:crypto';
import { CALL_STATE } from '../codes.ts';
import { DAY_MS, HOUR_MS } from '../time-spans.ts';
import { dimensionOfCall, SUM_COLUMNS, startOfCall, TIMES, timeColumns, type UsageTime } from '../usage-columns.ts';
import { TIME_BOUNDS_MS, USAGE_DIMENSIONS, USAGE_SUMS, type UsageSum } from '../usage-dimensions.ts';

/** A prime: products of two numbers below it fit into 64 bits. */
const PRIME = 2_147_483_647;
/** So small that the products of all columns can be added before the remainder is taken. */
const WEIGHT_MAX = 2 ** 25;

/**
 * One number for the usage sums of a day. Each row of sums counts with a weight that depends on its hour and dimensions, and
 * each of its columns with a weight of its own, all modulo a prime. The number of the receipts is the same as that of their sums,
 * because it is linear, and does not have to be grouped. The weights are random each time: a wrong sum stays unnoticed once in
 * thirty million times.
 */
export class UsageFingerprint {
  readonly #start = weight();
  readonly #dimensions = USAGE_DIMENSIONS.map(weight);
  readonly #columns = new Map(SUM_COLUMNS.map((column) => [column, weight()]));

  /** What a receipt adds to the number of its day. */
  get ofCall(): string {
    const sums = USAGE_SUMS.map((sum) => this.#weighed(sum, ofOneCall(sum)));
    const content = sumOf([...sums, this.#classOf('first_byte'), this.#classOf('duration')]);
    return product(this.#group(startOfCall(HOUR_MS), USAGE_DIMENSIONS.map(dimensionOfCall)), content);
  }

  /** What a row of sums adds to it, from its columns `hour_group` and `content`. */
  readonly ofHour = product('hour_group', 'content');
  /** The same as a part of its day: `usage_day` must have the same number. */
  readonly ofDay = product('day_group', 'content');

  /** The columns that these are made of. Rows of `usage_day` have the same groups. */
  get columns(): string {
    const content = sumOf(SUM_COLUMNS.map((column) => this.#weighed(column, column)));
    const hour = this.#group('start_ms', USAGE_DIMENSIONS);
    const day = this.#group(`start_ms - start_ms % ${DAY_MS}`, USAGE_DIMENSIONS);
    return `${hour} AS hour_group, ${day} AS day_group, ${content} AS content`;
  }

  #group(start: string, dimensions: readonly string[]): string {
    return sumOf([weighed(start, this.#start), ...dimensions.map((sql, at) => weighed(sql, this.#dimensions[at]!))]);
  }

  #weighed(column: string, sql: string): string {
    return weighed(sql, this.#columns.get(column)!);
  }

  /** The weight of the class that a time of a call is counted in. */
  #classOf(time: UsageTime): string {
    const weights = timeColumns(time).map((column) => this.#columns.get(column)!);
    const ms = TIMES[time];
    const cases = TIME_BOUNDS_MS.map((bound, at) => `WHEN ${ms} < ${bound} THEN ${weights[at]}`);
    const none = `WHEN state <> ${CALL_STATE.of.settled} OR ${ms} IS NULL THEN 0`;
    return `CASE ${none} ${cases.join(' ')} ELSE ${weights.at(-1)} END`;
  }
}

function weight(): number {
  return randomInt(1, WEIGHT_MAX);
}

function ofOneCall(sum: UsageSum): string {
  return sum === 'requests' ? '1' : `coalesce(${sum}, 0)`;
}

/** The weight is a 64-bit number, and so is the product, also of columns with 32 bits. */
function weighed(sql: string, by: number): string {
  return `(${sql}) % ${PRIME} * CAST(${by} AS bigint)`;
}

function sumOf(terms: readonly string[]): string {
  return `((${terms.join(' + ')}) % ${PRIME})`;
}

function product(group: string, content: string): string {
  return `${group} * ${content} % ${PRIME}`;
}

/** Fingerprints that differ by a multiple of the prime are equal. */
export function isSameFingerprint(one: bigint, other: bigint): boolean {
  return (one - other) % BigInt(PRIME) === 0n;
}
