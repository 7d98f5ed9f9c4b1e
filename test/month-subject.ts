import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts';
import { databaseFile } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { emptySchema } from './postgres.ts';
import type { Random } from './random.ts';
import { aCredit, aHold, aKey, anAccount, aSettle } from './store-fixtures.ts';

export type Cells = Record<string, bigint | string | Uint8Array | null>;

/** A ledger whose rows a test can change without its knowledge. */
export interface MonthSubject {
  readonly engine: 'sqlite' | 'postgres';
  readonly clock: ManualClock;
  readonly store: Store;
  /** The folder or the URL. */
  readonly place: string;
  sql(text: string): Promise<Cells[]>;
  /** Closes the store, runs this meanwhile, and opens it again. */
  reopen(meanwhile?: () => Promise<void>): Promise<void>;
  dispose(): Promise<void>;
}

export const FIRST_MS = Date.UTC(2026, 0, 20);
const DAY_MS = 86_400_000;

export async function openSubject(
  engine: MonthSubject['engine'],
  archiveFolder: string | null = null,
): Promise<MonthSubject> {
  const clock = new ManualClock(FIRST_MS);
  const schema = engine === 'postgres' ? await emptySchema() : null;
  const place = schema?.url ?? mkdtempSync(join(tmpdir(), 'tollgate-months-'));
  if (schema === null) await copyEmptyLedger(place);
  const open = (): Promise<Store> =>
    engine === 'sqlite'
      ? openSqliteStore({ folder: place, clock, threads: false, archiveFolder })
      : openPostgresStore({ url: place, clock, databaseTime: false, archiveFolder });
  let store = await open();
  const database = schema === null ? null : new Connection(schema.url);
  return {
    engine,
    clock,
    place,
    get store() {
      return store;
    },
    sql: async (text) => database?.run(text) ?? inFile(place, text),
    reopen: async (meanwhile) => {
      await store.close();
      await meanwhile?.();
      store = await open();
    },
    dispose: async () => {
      await store.close();
      await database?.close();
      if (schema === null) rmSync(place, { recursive: true });
      else await schema.giveBack();
    },
  };
}

function inFile(folder: string, text: string): Cells[] {
  const database = new DatabaseSync(databaseFile(folder), { readBigInts: true });
  try {
    return database.prepare(text).all() as Cells[];
  } finally {
    database.close();
  }
}

/** One for all statements of a test: PostgreSQL starts a process for each connection. */
class Connection {
  readonly #client: pg.Client;
  #connected: Promise<unknown> | null = null;

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url });
  }

  async run(text: string): Promise<Cells[]> {
    this.#connected ??= this.#client.connect();
    await this.#connected;
    return (await this.#client.query(text)).rows as Cells[];
  }

  async close(): Promise<void> {
    if (this.#connected !== null) await this.#client.end();
  }
}

/** A cell in SQL. */
export function literal(cell: Cells[string] | number): string {
  if (cell === null) return 'NULL';
  if (typeof cell === 'string' && !/^-?\d+$/.test(cell)) return `'${cell.replaceAll("'", "''")}'`;
  return cell instanceof Uint8Array ? `x'${Buffer.from(cell).toString('hex')}'` : String(cell);
}

/** Three accounts with a key each, and money. */
export async function openAccounts({ store }: MonthSubject): Promise<void> {
  await store.registerPrices('prices-1', '{"model":1}');
  await store.registerPrices('prices-2', '{"model":2}');
  await store.beginInstance();
  for (const id of [1n, 2n, 3n]) {
    await store.createAccount(anAccount(id));
    await store.createKey(aKey(id, id));
    await store.apply([aCredit(id, 1_000_000_000n, { accountId: id })]);
  }
}

/**
 * Settled calls of these accounts, spread over this many days, with every kind of field. The ids are 10 apart; some
 * calls get their id early and are created later, like calls with slow bodies.
 */
export async function makeCalls(subject: MonthSubject, random: Random, count: number, days = 100): Promise<void> {
  const { store, clock } = subject;
  const firstId = BigInt(clock.nowMs());
  for (let at = 0; at < count; at++) {
    const id = firstId + 10n * BigInt(at);
    const accountId = BigInt(random.between(1, 3));
    const lateMs = random.chance(0.2) ? random.below(3 * DAY_MS) : 0;
    await store.apply([
      aHold(id, 1_000n, {
        accountId,
        keyId: random.chance(0.8) ? accountId : null,
        priceId: random.between(1, 2),
        stream: random.chance(0.5),
        requestedModel: random.pick(['vendor/model', 'model', 'back\\slash\nand line']),
        labels: random.chance(0.3) ? { user: `n° ${at} \\ "quoted"\n` } : null,
        chain: random.chance(0.3) ? `chain-${at};1` : null,
        idempotency: random.chance(0.2) ? { key: `key ${at}`, bodySha256: new Uint8Array(32) } : null,
        createdMs: clock.nowMs() - lateMs,
      }),
    ]);
    await store.apply([random.chance(0.1) ? { kind: 'void', id, reason: 'given back' } : settlement(id, random)]);
    clock.advance(Math.floor((days * DAY_MS) / count));
  }
  clock.advance(2 * LIMITS.closingAgeMs);
}

function settlement(id: bigint, random: Random) {
  const cost = BigInt(random.between(1, 999));
  const tokens = () => random.below(5_000);
  const usage = {
    freshTokens: tokens(),
    cacheReadTokens: tokens(),
    cacheWriteTokens: tokens(),
    cacheWrite1hTokens: tokens(),
    outputTokens: tokens(),
    reasoningTokens: 0,
  };
  const components = { freshNanousd: cost, cacheWriteNanousd: 0n, cacheReadNanousd: 0n, outputNanousd: 0n };
  const failed = {
    tries: [{ host: 'host-b', outcome: '503', ms: 12 }],
    attempts: 2,
    lossNanousd: 5n,
    lossReason: 'lost',
  };
  return aSettle(id, cost, {
    usage,
    components,
    ...(random.chance(0.3) ? failed : {}),
    host: random.pick(['host-a', null]),
  });
}

/** Each closed call's month, computed in the plainest way: the month of the latest creation so far, in the order of ids. */
export function monthsOf(calls: readonly Cells[]): Map<bigint, string> {
  let latestMs = 0;
  return new Map(
    calls.map((call) => {
      latestMs = Math.max(latestMs, Number(call.created_ms));
      return [BigInt(call.id as bigint), new Date(latestMs).toISOString().slice(0, 7)];
    }),
  );
}

/** What a version without hash trees and usage sums would have stored: only sums, by the month of creation. */
export async function forgetTrees({ sql, engine }: MonthSubject): Promise<void> {
  const month =
    engine === 'sqlite'
      ? "unixepoch(created_ms / 1000, 'unixepoch', 'start of month') * 1000"
      : "(extract(epoch FROM date_trunc('month', to_timestamp(created_ms / 1000) AT TIME ZONE 'UTC')) * 1000)::int8";
  await sql(`INSERT INTO closing (account_id, month_ms, calls, spent, loss)
    SELECT account_id, ${month}, count(*), sum(cost), sum(coalesce(loss, 0)) FROM call
    WHERE id <= (SELECT value FROM meta WHERE name = 'closed_up_to') GROUP BY 1, 2`);
  for (const table of ['usage_hour', 'usage_day', 'usage_state']) await sql(`DELETE FROM ${table}`);
  await sql('DELETE FROM month_tree');
  await sql('DELETE FROM closed_month');
}
