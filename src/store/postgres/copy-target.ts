import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import {
  type Cell,
  COPIED_BEFORE,
  type ColumnsOf,
  CopyRefused,
  type CopyStart,
  type CopyTarget,
  LEDGER_TABLES,
  type LedgerMark,
  type LedgerState,
  type LedgerTable,
  type Row,
} from '../copy.ts';
import { storable, storableName } from '../storable-text.ts';
import type { Store, VerifyProgress, VerifyReport } from '../store.ts';
import { Connections, type RunSql } from './connections.ts';
import { finishCopy, readCopy, writeCopy } from './copy-mark.ts';
import { takeLock } from './locks.ts';
import { openPostgresStore } from './postgres-store.ts';
import { bytes, numbers, texts } from './values.ts';

type PostgresTarget = CopyTarget & { close(): Promise<void> };

/** Opens a database as the target of a copy, creating or migrating its tables. */
export async function openPostgresTarget({ url, clock }: { url: string; clock: Clock }): Promise<PostgresTarget> {
  const store = await openPostgresStore({ url, clock });
  return new Target(store, new Connections(url, clock, 1));
}

type Kind = 'int8' | 'text' | 'bytea';

/** How each column type is sent. */
const KINDS: Readonly<Record<string, Kind>> = {
  smallint: 'int8',
  integer: 'int8',
  bigint: 'int8',
  numeric: 'int8',
  text: 'text',
  bytea: 'bytea',
};

interface Columns {
  readonly names: readonly string[];
  readonly kinds: readonly Kind[];
}

class Target implements PostgresTarget {
  readonly #store: Store;
  readonly #connections: Connections;
  readonly #columns = new Map<string, Columns>();

  constructor(store: Store, connections: Connections) {
    this.#store = store;
    this.#connections = connections;
  }

  async begin(
    mark: LedgerMark,
    columns: ColumnsOf,
    moved: string | null = null,
  ): Promise<CopyStart | typeof COPIED_BEFORE> {
    for (const table of LEDGER_TABLES) this.#columns.set(table.name, await this.#columnsLike(table, columns(table)));
    return this.#connections.transaction(async (sql) => {
      // No process registers meanwhile, and none can while a copy is unfinished.
      await takeLock(sql, 'instances');
      await takeLock(sql, 'copy');
      const copy = await readCopy(sql);
      if (copy === null) {
        if (isSameMark(await readCopy(sql, 'copied'), mark)) return COPIED_BEFORE;
        if (moved !== null) throw new CopyRefused(moved);
        await refuseLedger(sql);
        await writeCopy(sql, mark);
        return 'begun';
      }
      if (copy.ledgerId !== mark.ledgerId) throw new CopyRefused(OTHER_COPY);
      if (copy.epoch === mark.epoch) return 'resumed';
      if (moved !== null) throw new CopyRefused(moved);
      await sql(`TRUNCATE ${LEDGER_TABLES.map(({ name }) => name).join(', ')}, instance, instance_commit`);
      await writeCopy(sql, mark);
      return 'begun_anew';
    });
  }

  lastKey(table: LedgerTable): Promise<Row | null> {
    return this.#connections.transaction((sql) => this.#readLastKey(sql, table));
  }

  async count({ name }: LedgerTable): Promise<number> {
    const [row] = await this.#connections.query<{ rows: bigint }>(`SELECT count(*) AS rows FROM ${name}`);
    return Number(row!.rows);
  }

  async write(table: LedgerTable, rows: readonly Row[], after: Row | null): Promise<void> {
    const { names, kinds } = this.#columns.get(table.name)!;
    const arrays = kinds.map((kind, at) =>
      arrayOf(
        kind,
        rows.map((row) => row[at]!),
      ),
    );
    const places = kinds.map((kind, at) => `$${at + 1}::${kind}[]`);
    await this.#connections.transaction(async (sql) => {
      await takeLock(sql, 'copy');
      const last = await this.#readLastKey(sql, table);
      if (!isSameKey(last, after))
        throw new CopyRefused(`Another process is copying into this database (table ${table.name}).`);
      await sql(`INSERT INTO ${table.name} (${names.join(', ')}) SELECT * FROM unnest(${places.join(', ')})`, arrays);
    });
  }

  async read(table: LedgerTable, after: Row | null, upTo: Row | null): Promise<Row[]> {
    const { names } = this.#columns.get(table.name)!;
    const terms = this.#keyTerms(table);
    const key = `(${terms.join(', ')})`;
    const values = [...(after ?? []), ...(upTo ?? [])];
    const places = (count: number, from: number) =>
      Array.from({ length: count }, (_, at) => `$${from + at}`).join(', ');
    const bounds = [
      ...(after === null ? [] : [`${key} > (${places(after.length, 1)})`]),
      ...(upTo === null ? [] : [`${key} <= (${places(upTo.length, (after?.length ?? 0) + 1)})`]),
    ];
    const where = bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`;
    // At the end there should be no more rows; one is enough to know.
    const limit = upTo === null ? 1 : LIMITS.copyPageRows + 1;
    const rows = await this.#connections.query<Record<string, Cell>>(
      `SELECT ${names.join(', ')} FROM ${table.name} ${where} ORDER BY ${terms.join(', ')} LIMIT ${limit}`,
      values,
    );
    return rows.map((row) => names.map((name) => row[name]!));
  }

  asStored({ name, key }: LedgerTable, rows: readonly Row[]): readonly Row[] {
    const isDictionary = name === 'name';
    const asText = (text: string, row: Row) => (isDictionary ? storableName(text, row[0] as bigint) : storable(text));
    return rows.map((row) => {
      if (row.every((cell) => typeof cell !== 'string' || asText(cell, row) === cell)) return row;
      return row.map((cell, at) => (typeof cell !== 'string' || at < key.length ? cell : asText(cell, row)));
    });
  }

  async setState(state: LedgerState, { epoch }: LedgerMark): Promise<void> {
    const meta = {
      today_ms: state.todayMs,
      closed_up_to: state.closedUpTo,
      books_id: state.booksId,
      generation: state.generation,
      jobs_generation: state.jobsGeneration,
    };
    await this.#connections.transaction(async (sql) => {
      for (const [name, value] of Object.entries(meta))
        await sql('UPDATE meta SET value = $2 WHERE name = $1', [name, value]);
      await sql("SELECT setval(pg_get_serial_sequence('name', 'id'), coalesce(max(id), 0) + 1, false) FROM name");
      // Epochs continue from those of the source, so that none is ever used twice.
      await sql(
        `INSERT INTO instance (epoch, number, state, started_at, beat_at, beating_since)
         SELECT $1::int8, 0, 3, clock_timestamp(), clock_timestamp(), clock_timestamp() WHERE $1::int8 > 0
         ON CONFLICT (epoch) DO NOTHING`,
        [epoch],
      );
    });
  }

  verify(progress: (done: VerifyProgress) => void): Promise<VerifyReport> {
    return this.#store.verify(progress);
  }

  async finish(): Promise<void> {
    for (const { name } of LEDGER_TABLES) await this.#connections.query(`ANALYZE ${name}`);
    await this.#connections.transaction(finishCopy);
  }

  async close(): Promise<void> {
    await this.#connections.close();
    await this.#store.close();
  }

  async #readLastKey(sql: RunSql, table: LedgerTable): Promise<Row | null> {
    const { name, key } = table;
    const order = this.#keyTerms(table).map((term) => `${term} DESC`);
    const [row] = await sql<Record<string, Cell>>(`SELECT ${key.join(', ')} FROM ${name} ORDER BY ${order} LIMIT 1`);
    return row === undefined ? null : key.map((column) => row[column]!);
  }

  /** The key's columns, ordered as in the source: by bytes, where a database may order by language. */
  #keyTerms({ name, key }: LedgerTable): string[] {
    const { kinds } = this.#columns.get(name)!;
    return key.map((column, at) => (kinds[at] === 'text' ? `${column} COLLATE "C"` : column));
  }

  /** Checks that both engines have the same columns. */
  async #columnsLike({ name }: LedgerTable, names: readonly string[]): Promise<Columns> {
    const rows = await this.#connections.query<{ column: string; type: string }>(
      `SELECT attname AS column, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
      [name],
    );
    const types = new Map(rows.map(({ column, type }) => [column, type]));
    const kinds = names.map((column) => KINDS[types.get(column) ?? '']);
    if (types.size !== names.length || !kinds.every((kind) => kind !== undefined)) {
      throw new Error(`The table ${name} does not have the same columns in both engines.`);
    }
    return { names, kinds };
  }
}

const OTHER_COPY =
  'The database contains an unfinished copy of another ledger. Copy into an empty database, or drop and recreate this one.';

function isSameMark(one: LedgerMark | null, other: LedgerMark): boolean {
  return one !== null && one.ledgerId === other.ledgerId && one.epoch === other.epoch;
}

async function refuseLedger(sql: RunSql): Promise<void> {
  for (const { name } of LEDGER_TABLES) {
    const [row] = await sql(`SELECT 1 FROM ${name} LIMIT 1`);
    if (row === undefined) continue;
    throw new CopyRefused('The database already contains a ledger. Copy into an empty database.');
  }
  const [live] = await sql(
    "SELECT 1 FROM instance WHERE state = 1 AND beat_at > clock_timestamp() - $1::int8 * interval '1 millisecond'",
    [LIMITS.instanceDeadMs],
  );
  if (live !== undefined) throw new CopyRefused('A server is using this database. Stop it first.');
}

function isSameKey(one: Row | null, other: Row | null): boolean {
  if (one === null || other === null) return one === other;
  return one.every((cell, at) => cell === other[at]);
}

function arrayOf(kind: Kind, cells: readonly Cell[]): string {
  if (kind === 'int8') return numbers(cells as (bigint | null)[]);
  return kind === 'text' ? texts(cells as (string | null)[]) : bytes(cells as (Uint8Array | null)[]);
}
