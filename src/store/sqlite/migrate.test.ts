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

  it('leave nothing behind of a step that fails', () => {
    const broken = step(2, 'CREATE TABLE half (x); CREATE TABLE nonsense (');
    expect(() => migrate(database, [step(1, 'CREATE TABLE a (x)'), broken])).toThrow();
    expect(tables()).toEqual(['a', 'meta']);
    expect(readMeta(database, 'schema')).toBe(1n);
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

  it('never go back', () => {
    migrate(database, [step(1, 'CREATE TABLE a (x)'), step(2, 'CREATE TABLE b (x)')]);
    expect(() => migrate(database, [step(1, 'CREATE TABLE a (x)')])).toThrow('newer version of Tollgate');
    expect(tables()).toEqual(['a', 'b', 'meta']);
  });
});
