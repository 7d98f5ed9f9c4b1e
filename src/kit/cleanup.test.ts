import { expect, test } from 'vitest';
import { Cleanup, openAll } from './cleanup.ts';

test('closes in reverse order, once', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.add(() => void closed.push('first'));
  cleanup.add(async () => void closed.push('second'));
  await cleanup.run();
  await cleanup.run();
  expect(closed).toEqual(['second', 'first']);
});

test('closes within the call whatever takes no time', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.add(() => void closed.push('last'));
  cleanup.add(async () => void closed.push('slow'));
  cleanup.add(() => void closed.push('first'));
  const closing = cleanup.run();
  expect(closed).toEqual(['first', 'slow']);
  await closing;
  expect(closed).toEqual(['first', 'slow', 'last']);
});

test('closes the rest when one cannot be closed, and reports that failure', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.add(() => void closed.push('first'));
  cleanup.add(() => Promise.reject(new Error('stuck')));
  await expect(cleanup.run()).rejects.toThrow('stuck');
  expect(closed).toEqual(['first']);
});

test('closes what was opened when the next cannot be, and reports why it could not', async () => {
  const closed: string[] = [];
  const opening = openAll(async (cleanup) => {
    cleanup.add(() => void closed.push('first'));
    cleanup.add(() => Promise.reject(new Error('stuck')));
    throw new Error('The second cannot be opened.');
  });
  await expect(opening).rejects.toThrow('The second cannot be opened.');
  expect(closed).toEqual(['first']);
});

test('leaves everything open when all of it could be opened', async () => {
  const closed: string[] = [];
  await openAll(async (cleanup) => cleanup.add(() => void closed.push('first')));
  expect(closed).toEqual([]);
});
