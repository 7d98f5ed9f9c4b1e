/** What a statement may be given; rows come back with every integer a bigint. */
export type SqlValue = bigint | number | string | Uint8Array | null;

/** One statement in the SQL that both engines understand; each `?` takes the next value. */
export interface Query {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * Work that no two programs may do at once. A program takes these locks in one order: people, names of accounts, one account,
 * keys, webhooks; that of refusals is taken alone. No batch of calls runs on a locked account. SQLite has one writer, so it
 * needs no lock.
 */
type LockStep =
  | { readonly lock: 'people' | 'names' | 'keys' | 'webhooks' | 'refusals' }
  | { readonly lock: 'account'; readonly id: bigint };

type Step = Query | LockStep;

/**
 * The steps of one transaction, written once for both engines: it yields statements and receives their rows. Programs
 * are for rows that change rarely; calls and money have code of their own for each engine.
 */
export type Program<Result> = Generator<Step, Result, readonly unknown[]>;

export function query(text: string, ...values: readonly SqlValue[]): Query {
  return { text, values };
}

export function* rowsOf<Row>(text: string, ...values: readonly SqlValue[]): Program<readonly Row[]> {
  return (yield { text, values }) as readonly Row[];
}

export function* rowOf<Row>(text: string, ...values: readonly SqlValue[]): Program<Row | null> {
  const [row] = yield* rowsOf<Row>(text, ...values);
  return row ?? null;
}

/** `INSERT` with one value per column. */
export function insert(table: string, cells: Readonly<Record<string, SqlValue>>): Query {
  const columns = Object.keys(cells);
  const places = columns.map(() => '?');
  return { text: `INSERT INTO ${table} (${columns}) VALUES (${places})`, values: Object.values(cells) };
}

/** `INSERT` of several rows with the same columns; `end` follows the values, such as `ON CONFLICT …`. */
export function insertRows(table: string, rows: readonly Readonly<Record<string, SqlValue>>[], end = ''): Query {
  const columns = Object.keys(rows[0]!);
  const places = `(${columns.map(() => '?')})`;
  return {
    text: `INSERT INTO ${table} (${columns}) VALUES ${rows.map(() => places)} ${end}`,
    values: rows.flatMap((cells) => Object.values(cells)),
  };
}

/** At the end of a subquery: PostgreSQL leaves out rows that another process is changing. SQLite has one writer. */
export const SKIP_LOCKED = '/* FOR UPDATE SKIP LOCKED */';

export function runNow<Result>(program: Program<Result>, ask: (query: Query) => readonly unknown[]): Result {
  let next = program.next([]);
  while (!next.done) next = program.next('lock' in next.value ? [] : ask(next.value));
  return next.value;
}

export async function runLater<Result>(
  program: Program<Result>,
  ask: (step: Step) => Promise<readonly unknown[]>,
): Promise<Result> {
  let next = program.next([]);
  while (!next.done) next = program.next(await ask(next.value));
  return next.value;
}
