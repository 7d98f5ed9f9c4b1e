import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { inject } from 'vitest';

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
