import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { sqliteJobs } from './jobs.ts';
import { StatementCache } from './statement-cache.ts';

/** A writer whose replies the test gives. */
function openJobs() {
  const asked: { name: unknown; reply(result?: unknown): void; fail(error: Error): void }[] = [];
  const call = (_: string, name: unknown) =>
    new Promise((reply, fail) => {
      asked.push({ name, reply, fail });
    });
  const jobs = sqliteJobs(new StatementCache(new DatabaseSync(':memory:')), { call } as never, async (run) => run());
  return { jobs, asked };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('changes of jobs go to the writer one at a time, so that calls wait for one at most', async () => {
  const { jobs, asked } = openJobs();
  const first = jobs.stage([], []);
  const second = jobs.activate(1n);
  await settled();
  expect(asked.map(({ name }) => name)).toEqual(['stage']);
  asked[0]!.reply('staged');
  expect(await first).toBe('staged');
  await settled();
  expect(asked.map(({ name }) => name)).toEqual(['stage', 'activate']);
  asked[1]!.reply(0);
  expect(await second).toBe(0);
});

test('a change that fails does not hold up the next one', async () => {
  const { jobs, asked } = openJobs();
  const first = jobs.dropStaged(1n);
  const second = jobs.dropStaged(2n);
  await settled();
  asked[0]!.fail(new Error('The disk is full.'));
  await expect(first).rejects.toThrow('The disk is full.');
  await settled();
  asked[1]!.reply(3);
  expect(await second).toBe(3);
});
