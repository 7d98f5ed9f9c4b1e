import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { StatementCache } from './statement-cache.ts';

test('a statement is prepared once, until others were used more recently', () => {
  const cache = new StatementCache(new DatabaseSync(':memory:'), 2);
  const one = cache.prepare('SELECT 1');
  const two = cache.prepare('SELECT 2');
  expect(cache.prepare('SELECT 1')).toBe(one);
  cache.prepare('SELECT 3');
  expect(cache.prepare('SELECT 1')).toBe(one);
  expect(cache.prepare('SELECT 2')).not.toBe(two);
  expect(cache.prepare('SELECT 2').get()).toEqual({ 2: 2 });
});

test('a cached statement sees a table that has changed since', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE kept (a)');
  const cache = new StatementCache(database, 2);
  expect(cache.prepare('SELECT * FROM kept').all()).toEqual([]);
  database.exec('ALTER TABLE kept ADD COLUMN b; INSERT INTO kept VALUES (1, 2)');
  expect(cache.prepare('SELECT * FROM kept').all()).toEqual([{ a: 1, b: 2 }]);
});
