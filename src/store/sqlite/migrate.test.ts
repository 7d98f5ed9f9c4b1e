import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../migrations/index.ts';
import { KeyReader } from './keys.ts';
import { readMeta } from './meta.ts';
import { migrate } from './migrate.ts';

describe('migrations', () => {
  let database: DatabaseSync;

  beforeEach(() => {
    database = new DatabaseSync(':memory:', { readBigInts: true });
  });

  const step = (number: number, sqlite: string) => ({ number, name: `step ${number}`, sqlite, postgres: '' });
  const tables = () =>
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map((row) => row.name);

  it('are numbered from one without gaps', () => {
    expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it('run once each, in order, starting after the last one applied', () => {
    const first = step(1, 'CREATE TABLE a (x)');
    migrate(database, [first]);
    migrate(database, [first]);
    migrate(database, [first, step(2, 'ALTER TABLE a RENAME TO b'), step(3, 'CREATE TABLE c (x)')]);
    expect(tables()).toEqual(['b', 'c', 'meta']);
    expect(readMeta(database, 'schema')).toBe(3n);
  });

  const broken = step(3, 'CREATE TABLE half (x); CREATE TABLE nonsense (');

  it('leave nothing behind of a step that fails, and keep the steps before it', () => {
    const steps = [step(1, 'CREATE TABLE a (x)'), step(2, 'CREATE TABLE b (x)')];
    migrate(database, steps.slice(0, 1));
    expect(() => migrate(database, [...steps, broken])).toThrow();
    expect(tables()).toEqual(['a', 'b', 'meta']);
    expect(readMeta(database, 'schema')).toBe(2n);
  });

  it('leave nothing behind in a new ledger if a step fails, so that the next start begins again', () => {
    const steps = [step(1, 'CREATE TABLE a (x)'), step(2, 'CREATE TABLE b (x)')];
    expect(() => migrate(database, [...steps, broken])).toThrow();
    expect([tables(), readMeta(database, 'schema')]).toEqual([['meta'], 0n]);
    migrate(database, steps);
    expect(tables()).toEqual(['a', 'b', 'meta']);
  });

  it('let keys of earlier versions go on changing provider keys', () => {
    migrate(database, MIGRATIONS.slice(0, 6));
    database.exec(`
      INSERT INTO account VALUES (1, 'ada', 1, 0);
      INSERT INTO api_key (id, account_id, name, sha256, prefix, last_four, cap_window, created_ms, version)
        VALUES (7, 1, 'k', 's', 'p', 'f', 0, 0, 1);`);
    migrate(database, MIGRATIONS);
    expect(new KeyReader(database).find(7n)?.permissions).toEqual(['provider_keys']);
  });

  it('confirm no address that only an owner had invited, and stop the keys of viewers', () => {
    migrate(database, MIGRATIONS.slice(0, 22));
    database.exec(`
      INSERT INTO account (id, name, kind, created_ms) VALUES (1, 'ada', 1, 0);
      INSERT INTO person (id, email, email_key, name, operator, created_ms, version) VALUES
        (1, 'root@x', 'root@x', 'r', 1, 0, 1), (2, 'owner@x', 'owner@x', 'o', 0, 0, 1), (3, 'New@x', 'new@x', 'n', 0, 0, 1);
      INSERT INTO invitation (id, sha256, email, operator, account_id, role, invited_by, created_ms, expires_ms, accepted_ms)
        VALUES (1, 'a', 'Owner@x', 0, 1, 0, 1, 0, 9, 5), (2, 'b', 'New@x', 0, 1, 2, 2, 0, 9, 5);
      INSERT INTO membership VALUES (1, 2, 0, NULL, 0), (1, 3, 2, NULL, 0);
      INSERT INTO api_key (id, account_id, person_id, name, sha256, prefix, last_four, cap_window, created_ms, version) VALUES
        (7, 1, 2, 'k', 's', 'p', 'f', 0, 4, 1), (8, 1, 3, 'k', 't', 'p', 'f', 0, 4, 2);`);
    migrate(database, MIGRATIONS);
    const people = database.prepare('SELECT unconfirmed_in FROM person ORDER BY id').all();
    expect(people.map((row) => row.unconfirmed_in)).toEqual([null, null, 1n]);
    const keys = new KeyReader(database);
    expect([keys.find(7n)?.personDisabledMs, keys.find(8n)?.personDisabledMs]).toEqual([null, 4]);
    expect(database.prepare('SELECT email_key FROM invitation WHERE id = 1').get()).toEqual({ email_key: 'owner@x' });
  });

  it('never go back', () => {
    migrate(database, [step(1, 'CREATE TABLE a (x)'), step(2, 'CREATE TABLE b (x)')]);
    expect(() => migrate(database, [step(1, 'CREATE TABLE a (x)')])).toThrow('newer version of Tollgate');
    expect(tables()).toEqual(['a', 'b', 'meta']);
  });
});
