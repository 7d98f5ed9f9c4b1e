import pg from 'pg';
import { createAccount, mintKey } from '../../src/accounts/accounts.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../../src/canonical/id-prefixes.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { formatId, IdSource } from '../../src/kit/ids.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../../test/postgres-server.ts';
import type { Key } from '../kill/world.ts';

const RICH_NANOUSD = 100_000_000_000n;
/** Enough for a few dozen calls: the rest of a round's calls have to be refused. */
const POOR_NANOUSD = 1_000_000n;
/** An instance number that no gateway of a round reaches. */
const INSTANCE = 1023;
const TEMPLATE = 'books_template';
const MAINTENANCE = 'postgres';

/** One PostgreSQL for all rounds, with a database of its own for each. */
export class PostgresStage {
  readonly server: PostgresServer;
  readonly keys: readonly Key[];
  /** What was credited to each account, by id. */
  readonly creditsNanousd: ReadonlyMap<bigint, bigint>;

  private constructor(server: PostgresServer, keys: readonly Key[], creditsNanousd: ReadonlyMap<bigint, bigint>) {
    this.server = server;
    this.keys = keys;
    this.creditsNanousd = creditsNanousd;
  }

  static async start(): Promise<PostgresStage> {
    const server = await startPostgres();
    await runSql(server.url(MAINTENANCE), `CREATE DATABASE ${TEMPLATE}`);
    const store = await openPostgresStore({ url: server.url(TEMPLATE), clock: systemClock });
    try {
      const { keys, creditsNanousd } = await openAccounts(store);
      return new PostgresStage(server, keys, creditsNanousd);
    } finally {
      await store.close();
    }
  }

  /** A new database with the accounts and keys. */
  createDatabase(name: string): Promise<void> {
    return this.#sql(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  }

  /** Copies a database as it is now. Its connections are cut, and new ones refused meanwhile. */
  async snapshot(name: string): Promise<void> {
    await this.#disconnect(name);
    await this.#sql(`CREATE DATABASE ${name}_snapshot TEMPLATE ${name}`);
    await this.#sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }

  /** Puts the snapshot in the place of the database, as a restored backup would be. `meanwhile` runs when nobody is connected. */
  async restore(name: string, meanwhile: () => Promise<void>): Promise<void> {
    await this.#disconnect(name);
    await meanwhile();
    await this.#sql(`ALTER DATABASE ${name} RENAME TO ${name}_gone`);
    await this.#sql(`ALTER DATABASE ${name}_snapshot RENAME TO ${name}`);
  }

  async dropDatabases(name: string): Promise<void> {
    for (const database of [name, `${name}_snapshot`, `${name}_gone`]) {
      await this.#sql(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    }
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  async #disconnect(name: string): Promise<void> {
    await this.#sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await this.#sql(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`);
  }

  async #sql(text: string): Promise<void> {
    await runSql(this.server.url(MAINTENANCE), text);
  }
}

export async function runSql<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Two accounts with much money and one with little, with two keys each. */
async function openAccounts(store: Store): Promise<Pick<PostgresStage, 'keys' | 'creditsNanousd'>> {
  const services = { store, clock: systemClock, ids: new IdSource(systemClock, INSTANCE) };
  const keys: Key[] = [];
  const creditsNanousd = new Map<bigint, bigint>();
  for (const [name, amountNanousd] of Object.entries({
    ada: RICH_NANOUSD,
    grace: POOR_NANOUSD,
    edsger: RICH_NANOUSD,
  })) {
    const account = await createAccount(services, { name, kind: 'prepaid' });
    if (account === 'name_taken') throw new Error(`There is an account ${name} already.`);
    const id = services.ids.next();
    const credit = { kind: 'credit', id, accountId: account.id, amountNanousd, note: null } as const;
    await store.apply([{ ...credit, reference: String(id), createdMs: systemClock.nowMs() }]);
    creditsNanousd.set(account.id, amountNanousd);
    for (const capNanousd of [null, amountNanousd]) {
      const terms = { accountId: account.id, name: '', capWindow: 'lifetime', expiresMs: null } as const;
      const minted = await mintKey(services, {
        ...terms,
        capNanousd,
        models: null,
        permissions: [],
        onUnsupported: 'refuse',
      });
      if (typeof minted === 'string') throw new Error('An account that was just made is missing.');
      const ids = { id: formatId(KEY_PREFIX, minted.key.id), account: formatId(ACCOUNT_PREFIX, account.id) };
      keys.push({ ...ids, secret: minted.secret.reveal() });
    }
  }
  return { keys, creditsNanousd };
}
