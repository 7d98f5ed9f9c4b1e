import type { DatabaseSync } from 'node:sqlite';
import { mintSecret } from '../src/accounts/keys.ts';
import { idFloorAt } from '../src/kit/ids.ts';
import { createFiles, openToWrite } from '../src/store/sqlite/database.ts';
import { migrate } from '../src/store/sqlite/migrate.ts';

interface FillOptions {
  readonly folder: string;
  /** Settled calls, spread over the thirty days before yesterday and over the accounts. */
  readonly calls: number;
  readonly accounts: number;
  /** How many days; thirty by default. */
  readonly days?: number;
}

export interface FilledAccount {
  readonly accountId: bigint;
  readonly keyId: bigint;
  readonly secret: string;
}

const DAY_MS = 86_400_000;

/** The writer counts these continuously, and verifying compares them with the rows. */
const COUNT = `
  UPDATE meta SET value = (SELECT count(*) FROM call) WHERE name = 'receipts';
  UPDATE meta SET value = (SELECT sum(spent) FROM balance) WHERE name = 'spent';`;
const CREDIT_NANOUSD = 1_000_000_000_000_000n;

/** Creates a store with a consistent ledger, by SQL alone: prepaid accounts with one uncapped key each, and old calls. */
export function fillStore({ folder, calls, accounts, days = 30 }: FillOptions): FilledAccount[] {
  createFiles(folder);
  const database = openToWrite(folder);
  migrate(database);
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  const filled = fillAccounts(database, accounts, days);
  if (calls > 0) fillCalls(database, calls, days, filled);
  database.exec(COUNT);
  database.exec('COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return filled;
}

function fillAccounts(database: DatabaseSync, accounts: number, days: number): FilledAccount[] {
  const createdMs = BigInt(Date.now() - (days + 10) * DAY_MS);
  const firstId = idFloorAt(Number(createdMs));
  const account = database.prepare('INSERT INTO account (id, name, kind, created_ms) VALUES (?, ?, 1, ?)');
  const balance = database.prepare('INSERT INTO balance (account_id, kind, balance, spent) VALUES (?, 1, ?, 0)');
  const credit = database.prepare("INSERT INTO credit VALUES (?, ?, 'opening', ?, NULL, ?, NULL)");
  const key = database.prepare(`
    INSERT INTO api_key (id, account_id, name, sha256, prefix, last_four, cap_window, created_ms, version)
    VALUES (?, ?, 'bench', ?, ?, ?, 0, ?, ?)`);
  return Array.from({ length: accounts }, (_, index) => {
    const id = firstId + BigInt(index);
    const { secret, sha256Hex, prefix, lastFour } = mintSecret();
    account.run(id, `bench-${index}`, createdMs);
    balance.run(id, CREDIT_NANOUSD);
    credit.run(id, id, CREDIT_NANOUSD, createdMs);
    key.run(id, id, sha256Hex, prefix, lastFour, createdMs, BigInt(index + 1));
    return { accountId: id, keyId: id, secret: secret.reveal() };
  });
}

/** Call number n belongs to account n modulo accounts; key ids equal account ids. */
function fillCalls(database: DatabaseSync, calls: number, days: number, filled: readonly FilledAccount[]): void {
  const firstMs = Date.now() - (days + 1) * DAY_MS;
  const stepIds = (idFloorAt(firstMs + days * DAY_MS) - idFloorAt(firstMs)) / BigInt(calls);
  database.exec(`
    INSERT INTO name (id, text) VALUES (1, '/v1/chat/completions'), (2, 'bench-model'), (3, 'bench-host');
    INSERT INTO price_list VALUES (1, 'bench', '{}');`);
  database
    .prepare(`
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :calls)
      INSERT INTO call (id, state, epoch, account_id, key_id, window_id, held, cost, price_id, route, stream,
        requested_model, effective_model, created_ms, ended_ms, ended, http_status, usage_source, fresh_tokens,
        cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, fresh, cache_write,
        cache_read, output, host, attempts, loss)
      SELECT :firstId + i * :step, 2, 1, :firstAccount + i % :accounts, :firstAccount + i % :accounts, 0,
        2000000, 900000 + i % 1000, 1, 1, 0, 2, 2, :firstMs + i * :spanMs / :calls,
        :firstMs + i * :spanMs / :calls + 900, 1, 200, 1, 400, 0, 0, 0, 200, 0,
        400000 + i % 1000, 0, 0, 500000, 3, 1, 0
      FROM n`)
    .run({
      calls: BigInt(calls),
      accounts: BigInt(filled.length),
      spanMs: BigInt(days * DAY_MS),
      firstId: idFloorAt(firstMs),
      step: stepIds,
      firstAccount: filled[0]!.accountId,
      firstMs: BigInt(firstMs),
    });
  database.exec(`
    CREATE TEMP TABLE total AS SELECT account_id, sum(cost) AS cost FROM call GROUP BY account_id;
    UPDATE balance SET balance = balance - cost, spent = cost FROM total WHERE total.account_id = balance.account_id;
    INSERT INTO key_window (key_id, window_id, spent) SELECT account_id, 0, cost FROM total;`);
}
