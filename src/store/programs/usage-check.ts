import { LIMITS } from '../../limits.ts';
import { DAY_MS, HOUR_MS, startOf } from '../time-spans.ts';
import { SUM_COLUMNS, sumOfCalls, sumsOfCalls } from '../usage-columns.ts';
import { USAGE_DIMENSIONS, USAGE_KEY } from '../usage-dimensions.ts';
import { type Program, rowOf, rowsOf } from './program.ts';
import { usageUpTo } from './usage-sums.ts';

type SumRow = Readonly<Record<string, bigint>>;
/** Sums by hour and dimensions. */
type Sums = Map<string, bigint[]>;

const DELETED_COLUMNS = ['deleted_requests', 'deleted_cost'] as const;

/**
 * Compares the sums of usage with the receipts that they were made from, day by day, in the order of ids. A receipt whose
 * time does not fit to its id is noticed late: its day is compared once more, with all receipts.
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
  /** Days that have sums but no receipts. */
  #rest: number[] | null = null;

  constructor(sinceMs: number | null, violate: (sentence: string) => void) {
    this.#sinceMs = sinceMs ?? 0;
    this.#violate = violate;
  }

  /** Does the next part, and returns how many receipts it read; null at the end. */
  *step(): Program<number | null> {
    if (!this.#isRead) return yield* this.#readReceipts();
    const next = [...this.#days.keys()][0] ?? (yield* this.#nextWithoutReceipts());
    if (next !== undefined) {
      yield* this.#compareDay(next);
      return 0;
    }
    const [doubtful] = this.#doubtful;
    if (doubtful === undefined) return null;
    this.#doubtful.delete(doubtful);
    yield* this.#compareAgain(doubtful);
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
    if (upTo === null) {
      this.#isRead = true;
      return 0;
    }
    const rows = yield* rowsOf<SumRow>(hourSums('id > ? AND id <= ?'), this.#after, upTo);
    this.#after = upTo;
    for (const row of rows) this.#add(row);
    yield* this.#compareFinished();
    return Number(found);
  }

  #add(row: SumRow): void {
    const startMs = Number(row.start_ms);
    const dayMs = startOf(DAY_MS, startMs);
    if (dayMs < startOf(DAY_MS, this.#sinceMs)) return;
    if (this.#compared.has(dayMs)) {
      this.#doubtful.add(dayMs);
      return;
    }
    let sums = this.#days.get(dayMs);
    if (sums === undefined) {
      sums = new Map();
      this.#days.set(dayMs, sums);
    }
    addTo(sums, row);
  }

  /** A day is finished when receipts of the day after next have come. */
  *#compareFinished(): Program<void> {
    const latestMs = Math.max(...this.#days.keys());
    for (const dayMs of [...this.#days.keys()]) if (dayMs < latestMs - DAY_MS) yield* this.#compareDay(dayMs);
  }

  *#nextWithoutReceipts(): Program<number | undefined> {
    if (this.#rest === null) {
      const rows = yield* rowsOf<{ day_ms: bigint }>(
        `SELECT start_ms - start_ms % ${DAY_MS} AS day_ms FROM usage_hour WHERE start_ms >= ? GROUP BY 1
         UNION SELECT start_ms FROM usage_day WHERE start_ms >= ? ORDER BY 1`,
        this.#sinceMs,
        this.#sinceMs,
      );
      this.#rest = rows.map(({ day_ms }) => Number(day_ms)).filter((dayMs) => !this.#compared.has(dayMs));
    }
    return this.#rest.shift();
  }

  *#compareDay(dayMs: number): Program<void> {
    const sums = this.#days.get(dayMs) ?? new Map();
    this.#days.delete(dayMs);
    this.#compared.add(dayMs);
    if ((yield* differencesOn(dayMs, sums)).length > 0) this.#doubtful.add(dayMs);
  }

  *#compareAgain(dayMs: number): Program<void> {
    const rows = yield* rowsOf<SumRow>(
      hourSums('id <= ? AND created_ms >= ? AND created_ms < ?'),
      this.#upTo!,
      dayMs,
      dayMs + DAY_MS,
    );
    const sums: Sums = new Map();
    for (const row of rows) addTo(sums, row);
    for (const sentence of yield* differencesOn(dayMs, sums)) this.#violate(sentence);
  }
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
function* differencesOn(dayMs: number, receipts: Sums): Program<string[]> {
  const stored = yield* rowsOf<SumRow>(
    'SELECT * FROM usage_hour WHERE start_ms >= ? AND start_ms < ?',
    dayMs,
    dayMs + DAY_MS,
  );
  const hours = new Map<number, string>();
  const left = new Map(receipts);
  for (const row of stored) {
    const finding = differenceOf(row, left.get(nameOf(row)) ?? null);
    left.delete(nameOf(row));
    if (finding !== null) hours.set(Number(row.start_ms), finding);
  }
  for (const name of left.keys()) hours.set(Number(name.split('/', 1)[0]), 'receipts are missing in the sums');
  const findings = [...hours].map(([ms, finding]) => `Usage of the hour ${hourName(ms)}: ${finding}.`);
  const dayIsSum = yield* isSumOfHours(dayMs, stored);
  return dayIsSum
    ? findings
    : [...findings, `Usage of the day ${hourName(dayMs).slice(0, 10)}: it is not the sum of its hours.`];
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

function* isSumOfHours(dayMs: number, hours: readonly SumRow[]): Program<boolean> {
  const computed: Sums = new Map();
  for (const row of hours) addTo(computed, { ...row, start_ms: BigInt(dayMs) });
  const days = yield* rowsOf<SumRow>('SELECT * FROM usage_day WHERE start_ms = ?', dayMs);
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
