import type { DatabaseSync } from 'node:sqlite';
import { mintSecret } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { IdSource, idFloorAt } from '../../src/kit/ids.ts';
import { auditRow } from '../../src/operator/actor.ts';
import type { Refusal } from '../../src/store/refusals.ts';
import { openToWrite } from '../../src/store/sqlite/database.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { aCredit, aKey, anAccount } from '../../test/store-fixtures.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const ACCOUNTS = ['acme', 'globex', 'initech'];
const KEYS = 48;
const PEOPLE = 12;
const REFUSALS = 600;
const CREDIT_NANOUSD = 1_000_000_000_000_000n;
/** Input, cached and output tokens in nanodollars. */
const MODELS = [
  ['sim-gpt', 1_250, 125, 10_000],
  ['sim-claude', 3_000, 300, 15_000],
  ['sim-gpt-mini', 150, 75, 600],
  ['sim-responses', 1_100, 275, 4_400],
  ['vendor-large', 5_000, 500, 25_000],
  ['vendor-small', 250, 25, 2_000],
] as const;
const ROUTES = ['/v1/chat/completions', '/v1/messages', '/v1/responses'];
const HOSTS = ['sim', 'east', 'west'];

/** The account that most calls belong to, and its busiest key. */
interface Month {
  readonly accountId: bigint;
  readonly keyId: bigint;
  readonly receipts: number;
}

/**
 * Fills an empty folder with a ledger that looks like a month of use, up to now. Receipts are written by SQL, because a
 * million real calls would take an hour; balances, windows, hash trees and usage sums are made from them, so that
 * `tollgate ledger verify --usage` finds nothing wrong.
 */
export async function fillMonth(folder: string, receipts: number, say: (words: string) => void): Promise<Month> {
  const ids = new IdSource(systemClock, 1);
  const nowMs = systemClock.nowMs();
  await withStore(folder, (store) => createCallers(store, nowMs));
  const database = openToWrite(folder);
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  fillCalls(database, receipts, nowMs);
  database.exec('COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  say(`${receipts} receipts are written.`);
  await withStore(folder, async (store) => {
    const { closed } = await store.closeBooks(null);
    say(`${closed} of them are in the usage sums.`);
    await store.usage.noteRefusals({ counts: [], rows: someRefusals(ids, nowMs), prunes: false });
  });
  return { accountId: accountAt(0), keyId: keyAt(0), receipts };
}

async function withStore(folder: string, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ folder, clock: systemClock });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

const accountAt = (at: number): bigint => BigInt(at + 1);
const keyAt = (at: number): bigint => BigInt(at + 1);
const personAt = (at: number): bigint => BigInt(at + 1);
/** Two thirds of the keys belong to the first account, and every other key to a person. */
const accountOfKey = (at: number): number => (at % 6 < 4 ? 0 : (at % 6) - 3);
const personOfKey = (at: number): bigint | null => (at % 2 === 0 ? null : personAt(at % PEOPLE));

async function createCallers(store: Store, nowMs: number): Promise<void> {
  const createdMs = nowMs - (DAYS + 1) * DAY_MS;
  const ids = new IdSource({ ...systemClock, nowMs: () => createdMs }, 1);
  const actor = { kind: 'command_line', id: null, name: 'console:month', address: null } as const;
  const audit = () => auditRow({ actor, ids, clock: systemClock }, { action: 'month.fill', subject: 'month' });
  await store.registerPrices('month-1', '{}');
  await store.beginInstance();
  for (const [at, name] of ACCOUNTS.entries()) {
    await store.createAccount(anAccount(accountAt(at), { name, createdMs }));
    await store.apply([aCredit(ids.next(), CREDIT_NANOUSD, { accountId: accountAt(at), createdMs })]);
  }
  for (let at = 0; at < PEOPLE; at++) {
    const person = { email: `person-${at + 1}@example.org`, name: `Person ${at + 1}`, passwordHash: null };
    await store.directory.createPerson(
      { id: personAt(at), ...person, isOperator: false, createdMs, identity: null },
      audit(),
    );
    for (let account = 0; account < ACCOUNTS.length; account++) {
      const place = { accountId: accountAt(account), personId: personAt(at) };
      await store.directory.putMembership(
        { ...place, role: 'member', capNanousd: null, capWindow: 'lifetime' },
        audit(),
      );
    }
  }
  for (let at = 0; at < KEYS; at++) {
    const { sha256Hex, prefix, lastFour } = mintSecret();
    const shown = { name: `service-${at + 1}`, sha256Hex, prefix, lastFour, createdMs, personId: personOfKey(at) };
    await store.createKey(aKey(keyAt(at), accountAt(accountOfKey(at)), shown));
  }
}

/** The caller and the usage of call number i are derived from the digits of i, so that every run writes the same. */
const CALLS = `
  WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :calls),
  drawn AS (
    SELECT i, (i * 2654435761) % 4294967291 AS a, (i * 40503 + 12345) % 65521 AS b, (i * 69069 + 1) % 1000003 AS c FROM n
  ),
  used AS (
    SELECT i, a, b, c, 200 + a % 4000 AS fresh_n, CASE WHEN b % 3 = 0 THEN 1000 + b % 3000 ELSE 0 END AS cached_n,
      40 + c % 700 AS out_n, (a % ${KEYS}) * (c % ${KEYS}) / ${KEYS} AS key_n, b % ${MODELS.length} AS model_n
    FROM drawn
  )
  INSERT INTO call (id, state, epoch, account_id, key_id, window_id, person_id, person_window_id, held, cost, price_id,
    route, stream, requested_model, effective_model, created_ms, ended_ms, ended, http_status, usage_source, fresh_tokens,
    cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, fresh, cache_write,
    cache_read, output, host, attempts, loss, first_byte_ms)
  SELECT :firstId + i * :step, 2, 1, month_key.account_id, month_key.id, 0, month_key.person_id,
    CASE WHEN month_key.person_id IS NULL THEN NULL ELSE 0 END,
    2 * (fresh_n * input + cached_n * cached + out_n * output_price),
    fresh_n * input + cached_n * cached + out_n * output_price, 1,
    month_model.route, b % 2, month_model.name, month_model.name, :firstMs + i * :spanMs / :calls,
    :firstMs + i * :spanMs / :calls + 300 + c % 9000, CASE WHEN b % 97 = 0 THEN 6 ELSE 1 END, 200, 1, fresh_n,
    cached_n, 0, 0, out_n, out_n / 4, fresh_n * input, 0, cached_n * cached, out_n * output_price,
    month_model.host, 1, 0, CASE WHEN b % 2 = 1 THEN 120 + c % 900 END
  FROM used JOIN month_key ON month_key.at = key_n JOIN month_model ON month_model.at = model_n`;

const SUMS = `
  CREATE TEMP TABLE by_account AS SELECT account_id, sum(cost) AS cost FROM call GROUP BY account_id;
  UPDATE balance SET balance = balance - cost, spent = cost FROM by_account WHERE by_account.account_id = balance.account_id;
  INSERT INTO key_window (key_id, window_id, spent) SELECT key_id, 0, sum(cost) FROM call GROUP BY key_id;
  INSERT INTO person_window (account_id, person_id, window_id, spent)
    SELECT account_id, person_id, 0, sum(cost) FROM call WHERE person_id IS NOT NULL GROUP BY account_id, person_id;
  UPDATE meta SET value = (SELECT count(*) FROM call) WHERE name = 'receipts';
  UPDATE meta SET value = (SELECT sum(spent) FROM balance) WHERE name = 'spent';`;

function fillCalls(database: DatabaseSync, calls: number, nowMs: number): void {
  const firstMs = nowMs - DAYS * DAY_MS;
  database.exec(`
    CREATE TEMP TABLE month_key (at INTEGER PRIMARY KEY, id INTEGER, account_id INTEGER, person_id INTEGER);
    CREATE TEMP TABLE month_model (at INTEGER PRIMARY KEY, name INTEGER, route INTEGER, host INTEGER, input INTEGER,
      cached INTEGER, output_price INTEGER);`);
  const key = database.prepare('INSERT INTO month_key VALUES (?, ?, ?, ?)');
  for (let at = 0; at < KEYS; at++) key.run(at, keyAt(at), accountAt(accountOfKey(at)), personOfKey(at));
  const model = database.prepare('INSERT INTO month_model VALUES (?, ?, ?, ?, ?, ?, ?)');
  const name = nameWriter(database);
  for (const [at, [id, input, cached, output]] of MODELS.entries())
    model.run(at, name(id), name(ROUTES[at % ROUTES.length]!), name(HOSTS[at % HOSTS.length]!), input, cached, output);
  database.prepare(CALLS).run({
    calls: BigInt(calls),
    firstId: idFloorAt(firstMs),
    step: (idFloorAt(nowMs) - idFloorAt(firstMs)) / BigInt(calls),
    firstMs: BigInt(firstMs),
    spanMs: BigInt(nowMs - firstMs),
  });
  database.exec(SUMS);
}

/** Words that repeat are stored once. */
function nameWriter(database: DatabaseSync): (text: string) => bigint {
  const insert = database.prepare('INSERT INTO name (text) VALUES (?) ON CONFLICT DO NOTHING');
  const find = database.prepare('SELECT id FROM name WHERE text = ?');
  return (text) => {
    insert.run(text);
    return (find.get(text) as { id: bigint }).id;
  };
}

function someRefusals(ids: IdSource, nowMs: number): Refusal[] {
  return Array.from({ length: REFUSALS }, (_, at) => ({
    id: ids.next(),
    accountId: accountAt(0),
    keyId: keyAt((at % 8) * 6),
    atMs: nowMs - at,
    route: ROUTES[0]!,
    model: 'sim-gpt',
    status: at % 5 === 0 ? 402 : 429,
    code: at % 5 === 0 ? 'insufficient_quota' : 'rate_limit_exceeded',
    message: 'Too many requests. Try again shortly.',
    worstNanousd: null,
    availableNanousd: null,
  }));
}
