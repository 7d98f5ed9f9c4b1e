import { parseJson } from '../../json/json.ts';
import { timeColumns } from '../usage-columns.ts';
import { USAGE_DIMENSIONS, USAGE_SUMS, type UsageDimension, type UsageSum } from '../usage-dimensions.ts';
import { countsRefusals, type UsageQuery, type UsageRow } from '../usage-report.ts';
import { windowSpan } from '../windows.ts';
import { type Program, rowsOf } from './program.ts';

/** A row of a part: the columns that it is grouped by, and sums. A sum over no rows is null. */
export type PartRow = Readonly<Record<string, bigint | string | null>>;

/** A row of the report while parts are added to it. */
interface Group {
  readonly startMs: number | null;
  readonly dimensions: Readonly<Partial<Record<UsageDimension, bigint>>>;
  readonly detail: string | null;
  readonly sums: Map<string, bigint>;
}

const NOT_SUMS: ReadonlySet<string> = new Set(['start_ms', 'detail', ...USAGE_DIMENSIONS]);
/** Texts and names that are looked up with one statement. */
const LOOKED_UP = 500;

/** Adds up the parts of a report. */
export class ReportRows {
  readonly #query: UsageQuery;
  readonly #groups = new Map<string, Group>();

  constructor(query: UsageQuery) {
    this.#query = query;
  }

  get size(): number {
    return this.#groups.size;
  }

  add(row: PartRow): void {
    const sums = Object.entries(row).filter(
      ([name, sum]) => !NOT_SUMS.has(name) && typeof sum === 'bigint' && sum !== 0n,
    );
    if (sums.length === 0) return;
    const group = this.#groupOf(row);
    for (const [name, sum] of sums) group.sums.set(name, (group.sums.get(name) ?? 0n) + (sum as bigint));
  }

  #groupOf(row: PartRow): Group {
    const startMs = this.#startOf(row);
    const detail = this.#detailOf(row);
    const ids = this.#query.groups.map((dimension) => row[dimension] as bigint);
    const name = [startMs, ...ids, detail === null ? '' : `=${detail}`].join('/');
    const found = this.#groups.get(name);
    if (found !== undefined) return found;
    const dimensions = Object.fromEntries(this.#query.groups.map((dimension, at) => [dimension, ids[at]!]));
    const group: Group = { startMs, dimensions, detail, sums: new Map() };
    this.#groups.set(name, group);
    return group;
  }

  #startOf({ start_ms }: PartRow): number | null {
    const { bucket } = this.#query;
    if (bucket === 'none') return null;
    const ms = Number(start_ms);
    return bucket === 'hour' ? ms : windowSpan(bucket, ms).startMs;
  }

  /** The id of a chain without the place in it, or the value of the label. */
  #detailOf({ detail: text = null }: PartRow): string | null {
    const { detail } = this.#query;
    if (detail === null || typeof text !== 'string') return null;
    if (detail.kind === 'chain') return text.slice(0, text.indexOf(';'));
    const labels = parseJson(text) as Readonly<Record<string, string>>;
    return Object.hasOwn(labels, detail.name) ? labels[detail.name]! : null;
  }

  /** The rows in the order of time and then of cost, the highest first. */
  *finish(): Program<UsageRow[]> {
    const groups = [...this.#groups.values()];
    const idsOf = (...dimensions: UsageDimension[]): bigint[] => [
      ...new Set(groups.flatMap((group) => dimensions.flatMap((dimension) => group.dimensions[dimension] ?? []))),
    ];
    const texts = yield* lookUp('name', 'text', idsOf('effective_model', 'route', 'host'));
    const accounts = yield* lookUp('account', 'name', idsOf('account_id'));
    const keys = yield* lookUp('api_key', 'name', idsOf('key_id'));
    const people = yield* lookUp('person', 'email', idsOf('person_id'));
    const rows = groups.map(({ startMs, dimensions, detail, sums }): UsageRow => {
      const id = (dimension: UsageDimension): bigint | null => dimensions[dimension] || null;
      const text = (dimension: UsageDimension): string | null => texts.get(id(dimension) ?? 0n) ?? null;
      return {
        startMs,
        accountId: id('account_id'),
        accountName: accounts.get(id('account_id') ?? 0n) ?? null,
        keyId: id('key_id'),
        keyName: keys.get(id('key_id') ?? 0n) ?? null,
        personId: id('person_id'),
        personEmail: people.get(id('person_id') ?? 0n) ?? null,
        model: text('effective_model'),
        route: text('route'),
        host: text('host'),
        detail,
        sums: Object.fromEntries(USAGE_SUMS.map((name) => [name, sums.get(name) ?? 0n])) as Record<UsageSum, bigint>,
        refunded: sums.get('refunded') ?? 0n,
        refused: countsRefusals(this.#query) ? (sums.get('refused') ?? 0n) : null,
        firstByte: this.#timesIn(sums, 'first_byte'),
        duration: this.#timesIn(sums, 'duration'),
      };
    });
    return rows.sort(byTimeAndCost);
  }

  #timesIn(sums: ReadonlyMap<string, bigint>, time: 'first_byte' | 'duration'): bigint[] | null {
    return this.#query.times ? timeColumns(time).map((column) => sums.get(column) ?? 0n) : null;
  }
}

function* lookUp(table: string, column: string, ids: readonly bigint[]): Program<ReadonlyMap<bigint, string>> {
  const found = new Map<bigint, string>();
  for (let from = 0; from < ids.length; from += LOOKED_UP) {
    const some = ids.slice(from, from + LOOKED_UP);
    const rows = yield* rowsOf<{ id: bigint; text: string }>(
      `SELECT id, ${column} AS text FROM ${table} WHERE id IN (${some.map(() => '?')})`,
      ...some,
    );
    for (const { id, text } of rows) found.set(id, text);
  }
  return found;
}

function byTimeAndCost(a: UsageRow, b: UsageRow): number {
  if (a.startMs !== b.startMs) return (a.startMs ?? 0) - (b.startMs ?? 0);
  if (a.sums.cost !== b.sums.cost) return a.sums.cost < b.sums.cost ? 1 : -1;
  return Number(b.sums.requests - a.sums.requests);
}
