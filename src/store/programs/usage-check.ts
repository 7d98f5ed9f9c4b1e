import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { DAY_MS, HOUR_MS, startOf } from '../time-spans.ts';
import { SUM_COLUMNS, startOfCall, sumOfCalls, sumsOfCalls, type UsageTable } from '../usage-columns.ts';
import { USAGE_DIMENSIONS, USAGE_KEY } from '../usage-dimensions.ts';
import { type Program, rowOf, rowsOf } from './program.ts';
import { isSameFingerprint, UsageFingerprint } from './usage-fingerprint.ts';
import { usageUpTo } from './usage-sums.ts';

type SumRow = Readonly<Record<string, bigint>>;
/** Sums by hour and dimensions. */
type Sums = Map<string, bigint[]>;

const DELETED_COLUMNS = ['deleted_requests', 'deleted_cost'] as const;

/** How many days are compared at a time after all receipts were read. */
const DAYS_AT_ONCE = 31;

/** What the receipts of a day add up to, and between which ids they were found. */
interface Day {
  requests: bigint;
  cost: bigint;
  print: bigint;
  readonly after: bigint;
  upTo: bigint;
}

/**
 * Compares the usage sums with the receipts that they were made from. First each day is compared by one number for all its
 * sums, which is quick. A day that differs is compared sum by sum, and so is a day of which only some receipts were deleted.
 */
export class UsageCheck {
  readonly #sinceMs: number;
  readonly #violate: (sentence: string) => void;
  readonly #fingerprint = new UsageFingerprint();
  readonly #days = new Map<number, Day>();
  /** Days that are left to be compared sum by sum. */
  readonly #doubtful: number[] = [];
  #after = 0n;
  #upTo: bigint | null = null;
  #isRead = false;
  /** Spans of time that are left to be compared, with and without receipts. */
  #left: TimeSpan[] | null = null;

  constructor(sinceMs: number | null, violate: (sentence: string) => void) {
    this.#sinceMs = sinceMs ?? 0;
    this.#violate = violate;
  }

  /** Does the next part, and returns how many receipts it read; null at the end. */
  *step(): Program<number | null> {
    const found = this.#isRead ? 0 : yield* this.#readReceipts();
    if (found > 0) return found;
    this.#left ??= yield* this.#spansLeft();
    const span = this.#left.shift();
    if (span !== undefined) yield* this.#compare(span);
    else {
      const dayMs = this.#doubtful.shift();
      if (dayMs === undefined) return null;
      yield* this.#compareSums(dayMs);
    }
    return 0;
  }

  *#readReceipts(): Program<number> {
    if (this.#upTo === null) {
      this.#upTo = yield* usageUpTo();
      this.#after = yield* lastIdBefore(this.#sinceMs);
    }
    const slice = yield* rowOf<{ up_to: bigint | null; found: bigint }>(
      `SELECT max(id) AS up_to, count(*) AS found
       FROM (SELECT id FROM call WHERE id > ? AND id <= ? ORDER BY id LIMIT ?) AS next`,
      this.#after,
      this.#upTo,
      LIMITS.storeSliceRows,
    );
    const { up_to: upTo, found } = slice!;
    this.#isRead = found < LIMITS.storeSliceRows;
    if (upTo === null) return 0;
    const rows = yield* rowsOf<DayRow>(
      `SELECT ${startOfCall(DAY_MS)} AS day_ms, count(*) AS requests, sum(cost) AS cost, sum(${this.#fingerprint.ofCall}) AS print
       FROM call WHERE id > ? AND id <= ? AND state <> ${CALL_STATE.of.open} GROUP BY 1`,
      this.#after,
      upTo,
    );
    for (const row of rows) this.#add(row, upTo);
    this.#after = upTo;
    return Number(found);
  }

  #add({ day_ms, requests, cost, print }: DayRow, upTo: bigint): void {
    const dayMs = Number(day_ms);
    if (dayMs < startOf(DAY_MS, this.#sinceMs)) return;
    const day = this.#days.get(dayMs) ?? { requests: 0n, cost: 0n, print: 0n, after: this.#after, upTo };
    this.#days.set(dayMs, day);
    day.requests += requests;
    day.cost += cost;
    day.print += print;
    day.upTo = upTo;
  }

  /** Everything that has sums or receipts. */
  *#spansLeft(): Program<TimeSpan[]> {
    const range = yield* rowOf<{ first: bigint | null; last: bigint | null }>(
      `SELECT min(start_ms) AS first, max(start_ms) AS last
       FROM (SELECT start_ms FROM usage_hour UNION ALL SELECT start_ms FROM usage_day) AS sums WHERE start_ms >= ?`,
      this.#sinceMs,
    );
    const times = [range!.first, range!.last, ...this.#days.keys()].flatMap((ms) => (ms === null ? [] : [Number(ms)]));
    const spans: TimeSpan[] = [];
    const spanMs = DAYS_AT_ONCE * DAY_MS;
    const endMs = startOf(DAY_MS, Math.max(...times)) + DAY_MS;
    for (let fromMs = startOf(DAY_MS, Math.min(...times)); fromMs < endMs; fromMs += spanMs)
      spans.push({ fromMs, toMs: Math.min(fromMs + spanMs, endMs) });
    return spans;
  }

  *#compare(span: TimeSpan): Program<void> {
    const hours = new Map((yield* this.#hoursIn(span)).map((row) => [Number(row.day_ms), row]));
    const days = new Map((yield* this.#daysIn(span)).map((row) => [Number(row.day_ms), row.print]));
    const read = [...this.#days.keys()].filter((dayMs) => dayMs >= span.fromMs && dayMs < span.toMs);
    for (const dayMs of new Set([...read, ...hours.keys(), ...days.keys()])) {
      const stored = hours.get(dayMs);
      const isRight = stored !== undefined && isEqual(stored, this.#days.get(dayMs)) && days.has(dayMs);
      if (!isRight || !isSameFingerprint(stored.day_print, days.get(dayMs)!)) this.#doubtful.push(dayMs);
    }
  }

  /** Rows of which all receipts were deleted have only their number and cost to compare. */
  #hoursIn({ fromMs, toMs }: TimeSpan): Program<readonly HourRow[]> {
    return rowsOf<HourRow>(
      `WITH hour AS MATERIALIZED (
         SELECT start_ms - start_ms % ${DAY_MS} AS day_ms, requests, cost, deleted_requests, deleted_cost, ${this.#fingerprint.columns}
         FROM usage_hour WHERE start_ms >= ? AND start_ms < ?)
       SELECT day_ms, sum(requests - deleted_requests) AS requests, sum(cost - deleted_cost) AS cost,
         sum(CASE WHEN deleted_requests = 0 THEN ${this.#fingerprint.ofHour} ELSE 0 END) AS print, sum(${this.#fingerprint.ofDay}) AS day_print,
         sum(CASE WHEN deleted_requests = 0 AND deleted_cost = 0 THEN 0
           WHEN deleted_requests = requests AND deleted_cost = cost THEN 0 ELSE 1 END) AS unclear
       FROM hour GROUP BY 1`,
      fromMs,
      toMs,
    );
  }

  #daysIn({ fromMs, toMs }: TimeSpan): Program<readonly { readonly day_ms: bigint; readonly print: bigint }[]> {
    return rowsOf(
      `WITH day AS (SELECT start_ms, ${this.#fingerprint.columns} FROM usage_day WHERE start_ms >= ? AND start_ms < ?)
       SELECT start_ms AS day_ms, sum(${this.#fingerprint.ofDay}) AS print FROM day GROUP BY 1`,
      fromMs,
      toMs,
    );
  }

  *#compareSums(dayMs: number): Program<void> {
    const toMs = dayMs + DAY_MS;
    const { after, upTo } = this.#days.get(dayMs) ?? { after: 0n, upTo: 0n };
    const rows = yield* rowsOf<SumRow>(
      hourSums('id > ? AND id <= ? AND created_ms >= ? AND created_ms < ?'),
      after,
      upTo,
      dayMs,
      toMs,
    );
    const sums: Sums = new Map();
    for (const row of rows) addTo(sums, row);
    const hours = yield* storedSums('usage_hour', dayMs, toMs);
    const days = yield* storedSums('usage_day', dayMs, toMs);
    for (const sentence of differencesOn(dayMs, sums, { hours, days })) this.#violate(sentence);
  }
}

interface DayRow {
  readonly day_ms: bigint;
  readonly requests: bigint;
  readonly cost: bigint;
  readonly print: bigint;
}

interface HourRow extends DayRow {
  readonly day_print: bigint;
  readonly unclear: bigint;
}

function isEqual(stored: HourRow, day: Day | undefined): boolean {
  const { requests, cost, print } = day ?? { requests: 0n, cost: 0n, print: 0n };
  const isSame = stored.requests === requests && stored.cost === cost && isSameFingerprint(stored.print, print);
  return isSame && stored.unclear === 0n;
}

interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

interface StoredSums {
  readonly hours: readonly SumRow[];
  readonly days: readonly SumRow[];
}

function* storedSums(table: UsageTable['name'], fromMs: number, toMs: number): Program<readonly SumRow[]> {
  return yield* rowsOf<SumRow>(`SELECT * FROM ${table} WHERE start_ms >= ? AND start_ms < ?`, fromMs, toMs);
}

/** Receipts of earlier months were created earlier, so they are not read. */
function* lastIdBefore(monthMs: number): Program<bigint> {
  const row = yield* rowOf<{ id: bigint }>(
    'SELECT coalesce(max(up_to), 0) AS id FROM closed_month WHERE month_ms < ?',
    monthMs,
  );
  return row!.id;
}

function hourSums(condition: string): string {
  return sumsOfCalls(HOUR_MS, SUM_COLUMNS.map(sumOfCalls), condition);
}

function nameOf(row: SumRow): string {
  return USAGE_KEY.map((column) => row[column]).join('/');
}

function sumsIn(row: SumRow): bigint[] {
  return SUM_COLUMNS.map((column) => row[column]!);
}

function addTo(sums: Sums, row: SumRow): void {
  const name = nameOf(row);
  const found = sums.get(name);
  if (found === undefined) sums.set(name, sumsIn(row));
  else for (const [at, column] of SUM_COLUMNS.entries()) found[at]! += row[column]!;
}

/** What is wrong with the sums of a day, one sentence for each hour, or for the day. */
function differencesOn(dayMs: number, receipts: Sums, stored: StoredSums): string[] {
  const hours = new Map<number, string>();
  const left = new Map(receipts);
  for (const row of stored.hours) {
    const finding = differenceOf(row, left.get(nameOf(row)) ?? null);
    left.delete(nameOf(row));
    if (finding !== null) hours.set(Number(row.start_ms), finding);
  }
  for (const name of left.keys()) hours.set(Number(name.split('/', 1)[0]), 'receipts are missing in the sums');
  const findings = [...hours].map(([ms, finding]) => `Usage of the hour ${hourName(ms)}: ${finding}.`);
  if (isSumOfHours(dayMs, stored)) return findings;
  return [...findings, `Usage of the day ${hourName(dayMs).slice(0, 10)}: it is not the sum of its hours.`];
}

/** Of receipts that were deleted only their number and cost are known. */
function differenceOf(stored: SumRow, kept: readonly bigint[] | null): string | null {
  const [deletedRequests, deletedCost] = DELETED_COLUMNS.map((column) => stored[column]!) as [bigint, bigint];
  for (const [at, column] of SUM_COLUMNS.entries()) {
    const deleted = column === 'requests' ? deletedRequests : column === 'cost' ? deletedCost : 0n;
    const computed = (kept?.[at] ?? 0n) + deleted;
    const isKnown = deletedRequests === 0n || column === 'requests' || column === 'cost';
    const isWrong = isKnown ? stored[column] !== computed : stored[column]! < computed;
    if (isWrong) return `${column} is ${stored[column]}, but its receipts add up to ${computed} (${whose(stored)})`;
  }
  return null;
}

function whose(row: SumRow): string {
  return USAGE_DIMENSIONS.map((column) => `${column} ${row[column]}`).join(', ');
}

function isSumOfHours(dayMs: number, { hours, days }: StoredSums): boolean {
  const computed: Sums = new Map();
  for (const row of hours) addTo(computed, { ...row, start_ms: BigInt(dayMs) });
  if (days.length !== computed.size) return false;
  return days.every((row) => {
    const sums = computed.get(nameOf(row));
    return sums !== undefined && sumsIn(row).every((sum, at) => sum === sums[at]);
  });
}

/** `2026-03-01 14:00 UTC`; a number that cannot be a time stays a number. */
function hourName(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
