import { expect, test } from 'vitest';
import { readStore, storeUrlSchema } from './store.ts';

test.each([
  ['postgres://ada:hunter2@db.example/books', 'PostgreSQL db.example/books'],
  ['postgresql://ada@127.0.0.1:6432/books', 'PostgreSQL 127.0.0.1:6432/books'],
  ['postgres:///books', 'PostgreSQL localhost/books'],
  ['postgres://ada:hunter2@/books?host=/run/postgresql', 'PostgreSQL /run/postgresql/books'],
  ['postgres:///books?host=/run/postgresql', 'PostgreSQL /run/postgresql/books'],
])('%s is taken, and named without its password', (url, name) => {
  expect(storeUrlSchema.safeParse(url).success).toBe(true);
  const place = readStore(url)!;
  expect(place.name).toBe(name);
  expect(place.url.reveal()).toBe(url);
});

test.each([
  'mysql://ada@db/books',
  'postgres://',
  'postgres://ada@db:99999/books',
  'postgres://ada@/books',
  'postgres://ada:hunter@/2@db/books',
  'postgres://ada:hunter@/2@db/books?host=/run/postgresql',
])('%s is refused', (url) => {
  expect(storeUrlSchema.safeParse(url).success).toBe(false);
});
