import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../src/store/postgres/migrate.ts';

/**
 * The PostgreSQL of this run, with a database of this process's own: the server that TOLLGATE_TEST_POSTGRES names (its
 * role may create databases), or one that the run starts by itself.
 */
let database: Promise<string> | null = null;

export function testDatabase(): Promise<string> {
  database ??= createDatabase();
  return database;
}

/** A place in that database which nobody has used yet, as a URL. */
export async function freshSchema(): Promise<string> {
  const url = await testDatabase();
  const name = `books_${process.pid}_${++schemas}`;
  await runSql(url, `CREATE SCHEMA ${name}`);
  return withParameter(url, 'options', `-c search_path=${name}`);
}
let schemas = 0;

/** A new database that orders texts as a language does, like those of most services, and not by their bytes. */
export async function databaseInEnglish(): Promise<{ url: string; drop(): Promise<unknown> }> {
  const own = await testDatabase();
  const name = `${new URL(own).pathname.slice(1)}_english_${++schemas}`;
  await runSql(own, `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  return { url: withDatabase(own, name), drop: () => runSql(own, `DROP DATABASE ${name}`) };
}

export interface EmptySchema {
  readonly url: string;
  /** Empties it for the next test. Every connection to it must be closed. */
  giveBack(): Promise<void>;
}

const emptySchemas: EmptySchema[] = [];

/** A schema with empty tables. Creating them takes longer than most tests, so emptied ones are used again. */
export async function emptySchema(): Promise<EmptySchema> {
  const used = emptySchemas.pop();
  if (used !== undefined) return used;
  const url = await freshSchema();
  await migrate(url);
  const empty = await emptierOf(url);
  const schema: EmptySchema = {
    url,
    giveBack: async () => {
      await empty();
      emptySchemas.push(schema);
    },
  };
  return schema;
}

/**
 * Leaves a schema as the migrations did, which write to no table but `meta`. On one connection for all tests, which plans
 * its statements once: PostgreSQL would need longer to start a process and to plan them than for most tests.
 */
async function emptierOf(url: string): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString: url });
  // The server may stop before this process does.
  client.on('error', () => undefined);
  await client.connect();
  (client.connection.stream as Socket).unref();
  const body = await emptyingOf(client);
  await client.query(
    `CREATE FUNCTION pg_temp.empty_tables() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ${body}; END $$`,
  );
  return () => client.query('SELECT pg_temp.empty_tables()');
}

async function emptyingOf(client: pg.Client): Promise<string> {
  const tables = await client.query('SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema');
  const references = await client.query(
    `SELECT conrelid::regclass::text AS referring, confrelid::regclass::text AS referred
     FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema::regnamespace`,
  );
  const meta = await client.query('SELECT name, value FROM meta');
  const names = referringFirst(
    tables.rows.map(({ name }) => name),
    references.rows,
  );
  return [
    ...names.map((name) => `DELETE FROM ${name}`),
    ...meta.rows.map(({ name, value }) => `INSERT INTO meta (name, value) VALUES ('${name}', ${value})`),
    'ALTER SEQUENCE name_id_seq RESTART',
  ].join(';');
}

interface TableReference {
  readonly referring: string;
  readonly referred: string;
}

function referringFirst(tables: readonly string[], references: readonly TableReference[]): string[] {
  const isReferred = (name: string) =>
    references.some(({ referring, referred }) => referred === name && referring !== name && tables.includes(referring));
  const free = tables.filter((name) => !isReferred(name));
  if (free.length === 0) return [...tables];
  const rest = tables.filter((name) => !free.includes(name));
  return [...free, ...referringFirst(rest, references)];
}

export async function runSql(url: string, sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql, [...values]);
  } finally {
    await client.end();
  }
}

async function createDatabase(): Promise<string> {
  const url = process.env.TOLLGATE_TEST_POSTGRES ?? (await askForUrl(inject('postgresSocket')));
  const name = `tollgate_test_${process.pid}_${Date.now().toString(36)}`;
  await runSql(url, `CREATE DATABASE ${name}`);
  return withDatabase(url, name);
}

async function askForUrl(socketPath: string): Promise<string> {
  const answer: { url?: string; failure?: string } = JSON.parse(await text(connect(socketPath)));
  if (answer.url === undefined) throw new Error(`There is no PostgreSQL for this run: ${answer.failure}`);
  return answer.url;
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href.replaceAll('+', '%20');
}
