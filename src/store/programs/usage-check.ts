import { LIMITS } from '../../limits.ts';
import { DAY_MS, HOUR_MS, startOf } from '../time-spans.ts';
import { SUM_COLUMNS, sumOfCalls, sumsOfCalls, type UsageTable } from '../usage-columns.ts';
import { USAGE_DIMENSIONS, USAGE_KEY } from '../usage-dimensions.ts';
import { type Program, rowOf, rowsOf } from './program.ts';
import { usageUpTo } from './usage-sums.ts';

type SumRow = Readonly<Record<string, bigint>>;
/** Sums by hour and dimensions. */
type Sums = Map<string, bigint[]>;

const DELETED_COLUMNS = ['deleted_requests', 'deleted_cost'] as const;

/** How many days are compared at a time after all receipts were read. */
const DAYS_AT_ONCE = 31;

/**
 * Compares the sums of usage with the receipts that they were made from, in the order of ids. A receipt whose time does not
 * fit to its id is noticed late: its day is compared once more, with all receipts.
 */
export class UsageCheck {
  readonly #sinceMs: number;
  readonly #violate: (sentence: string) => void;
  /** Sums of the receipts that were read, by day. */
  readonly #days = new Map<number, Sums>();
  readonly #compared = new Set<number>();
  /** Days that differ, or got another receipt after they were compared. */
  readonly #doubtful = new Set<number>();
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
    const [doubtful] = this.#doubtful;
    if (span !== undefined) yield* this.#compare(span);
    else if (doubtful === undefined) return null;
    else yield* this.#compareAgain(doubtful);
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
    const rows = yield* rowsOf<SumRow>(hourSums('id > ? AND id <= ?'), this.#after, upTo);
    this.#after = upTo;
    for (const row of rows) this.#add(row);
    if (!this.#isRead) yield* this.#compareFinished();
    return Number(found);
  }

  #add(row: SumRow): void {
    const dayMs = startOf(DAY_MS, Number(row.start_ms));
    if (dayMs < startOf(DAY_MS, this.#sinceMs)) return;
    if (this.#compared.has(dayMs)) {
      this.#doubtful.add(dayMs);
      return;
    }
    const sums = this.#days.get(dayMs) ?? new Map();
    this.#days.set(dayMs, sums);
    addTo(sums, row);
  }

  /** Days are finished when receipts of the day after next have come. */
  *#compareFinished(): Program<void> {
    const days = [...this.#days.keys()].toSorted((a, b) => a - b);
    const finished = days.filter((dayMs) => dayMs < days.at(-1)! - DAY_MS);
    if (finished.length > 0) yield* this.#compare({ fromMs: finished[0]!, toMs: finished.at(-1)! + DAY_MS });
  }

  /** Everything that has sums or receipts and was not compared yet. */
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

  *#compare({ fromMs, toMs }: TimeSpan): Program<void> {
    const hours = byDay(yield* storedSums('usage_hour', fromMs, toMs));
    const days = byDay(yield* storedSums('usage_day', fromMs, toMs));
    const read = [...this.#days.keys()].filter((dayMs) => dayMs >= fromMs && dayMs < toMs);
    for (const dayMs of new Set([...read, ...hours.keys(), ...days.keys()])) {
      if (this.#compared.has(dayMs)) continue;
      this.#compared.add(dayMs);
      const stored = { hours: hours.get(dayMs) ?? [], days: days.get(dayMs) ?? [] };
      if (differencesOn(dayMs, this.#days.get(dayMs) ?? new Map(), stored).length > 0) this.#doubtful.add(dayMs);
      this.#days.delete(dayMs);
    }
  }

  *#compareAgain(dayMs: number): Program<void> {
    this.#doubtful.delete(dayMs);
    const toMs = dayMs + DAY_MS;
    const rows = yield* rowsOf<SumRow>(
      hourSums('id <= ? AND created_ms >= ? AND created_ms < ?'),
      this.#upTo!,
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

function byDay(rows: readonly SumRow[]): Map<number, SumRow[]> {
  const days = new Map<number, SumRow[]>();
  for (const row of rows) {
    const dayMs = startOf(DAY_MS, Number(row.start_ms));
    const found = days.get(dayMs);
    if (found === undefined) days.set(dayMs, [row]);
    else found.push(row);
  }
  return days;
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
