import { expect, test } from 'vitest';
import { Caches } from './caches.ts';

test('says what each cache holds at the moment of the question, and leaves out those that cannot answer', async () => {
  const caches = new Caches();
  const keys = new Set(['one']);
  caches.add('keys', 10, () => keys.size);
  caches.addAll(() => Promise.reject(new Error('away')));
  caches.addAll(async () => [{ cache: 'rows', entries: 3, entriesMax: 5 }]);
  keys.add('two');
  expect(await caches.sizes()).toEqual([
    { cache: 'keys', entries: 2, entriesMax: 10 },
    { cache: 'rows', entries: 3, entriesMax: 5 },
  ]);
});
