import pg from 'pg';
import { mintSecret } from '../src/accounts/keys.ts';
import { idFloorAt } from '../src/kit/ids.ts';
import type { FilledAccount } from './fill-store.ts';

interface FillOptions {
  /** A database whose tables are there and empty. */
  readonly url: string;
  /** Settled calls, spread over the thirty days before yesterday and over the accounts. */
  readonly calls: number;
  readonly accounts: number;
  /** How many days; thirty by default. */
  readonly days?: number;
}

const DAY_MS = 86_400_000;
const CREDIT_NANOUSD = 1_000_000_000_000_000n;

/** Fills the database with a consistent ledger, by SQL alone: prepaid accounts with one uncapped key each, and old calls. */
export async function fillPostgres({ url, calls, accounts, days = 30 }: FillOptions): Promise<FilledAccount[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const filled = await fillAccounts(client, accounts, days);
  if (calls > 0) await fillCalls(client, calls, days, filled);
  await client.query('VACUUM ANALYZE');
  await client.end();
  return filled;
}

async function fillAccounts(client: pg.Client, accounts: number, days: number): Promise<FilledAccount[]> {
  const createdMs = Date.now() - (days + 10) * DAY_MS;
  const firstId = idFloorAt(createdMs);
  const filled = Array.from({ length: accounts }, (_, index) => ({ id: firstId + BigInt(index), ...mintSecret() }));
  const ids = filled.map(({ id }) => id);
  await client.query(
    `INSERT INTO account (id, name, kind, created_ms) SELECT id, 'bench-' || at, 1, $2 FROM unnest($1::int8[]) WITH ORDINALITY AS one (id, at)`,
    [ids, createdMs],
  );
  await client.query(
    'INSERT INTO balance (account_id, kind, balance, held, spent) SELECT unnest($1::int8[]), 1, $2::int8, 0, 0',
    [ids, CREDIT_NANOUSD],
  );
  await client.query(
    "INSERT INTO credit SELECT id, id, 'opening', $2::int8, NULL, $3::int8, NULL FROM unnest($1::int8[]) AS one (id)",
    [ids, CREDIT_NANOUSD, createdMs],
  );
  await client.query(
    `INSERT INTO api_key (id, account_id, name, sha256, prefix, last_four, cap_window, created_ms, version)
     SELECT id, id, 'bench', sha256, prefix, last_four, 0, $5::int8, at
     FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
       AS one (id, sha256, prefix, last_four, at)`,
    [
      ids,
      filled.map(({ sha256Hex }) => sha256Hex),
      filled.map(({ prefix }) => prefix),
      filled.map(({ lastFour }) => lastFour),
      createdMs,
    ],
  );
  return filled.map(({ id, secret }) => ({ accountId: id, keyId: id, secret: secret.reveal() }));
}

/** Call number n belongs to account n modulo accounts; key ids equal account ids. */
async function fillCalls(
  client: pg.Client,
  calls: number,
  days: number,
  filled: readonly FilledAccount[],
): Promise<void> {
  const firstMs = Date.now() - (days + 1) * DAY_MS;
  const stepIds = (idFloorAt(firstMs + days * DAY_MS) - idFloorAt(firstMs)) / BigInt(calls);
  await client.query(
    "INSERT INTO name (id, text) VALUES (-1, '/v1/chat/completions'), (-2, 'bench-model'), (-3, 'bench-host')",
  );
  await client.query("INSERT INTO price_list VALUES (1, 'bench', '{}')");
  await client.query(
    `INSERT INTO call (id, account_id, key_id, epoch, held, cost, created_ms, price_id, window_id, route,
       requested_model, effective_model, state, stream, ended, http_status, usage_source, host, attempts, ended_ms,
       fresh_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens,
       fresh, cache_write, cache_read, output, loss)
     SELECT $1::int8 + i * $2::int8, $3::int8 + i % $4::int8, $3::int8 + i % $4::int8, 0, 2000000, 900000 + i % 1000,
       $5::int8 + i * $7::int8 / $6::int8, 1, 0, -1, -2, -2, 2, 0, 1, 200, 1, -3, 1,
       $5::int8 + i * $7::int8 / $6::int8 + 900, 400, 0, 0, 0, 200, 0, 400000 + i % 1000, 0, 0, 500000, 0
     FROM generate_series(0::int8, $6::int8 - 1) AS i`,
    [idFloorAt(firstMs), stepIds, filled[0]!.accountId, filled.length, firstMs, calls, days * DAY_MS],
  );
  const totals = 'SELECT account_id, sum(cost)::int8 AS cost FROM call GROUP BY account_id';
  await client.query(
    `UPDATE balance SET balance = balance - cost, spent = cost FROM (${totals}) AS total
     WHERE total.account_id = balance.account_id`,
  );
  await client.query(
    `INSERT INTO key_window (key_id, window_id, spent, held) SELECT account_id, 0, cost, 0 FROM (${totals}) AS total`,
  );
}
