import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { sqliteJobs } from './jobs.ts';
import { StatementCache } from './statement-cache.ts';

/** A writer whose replies the test gives, and a thread for long reads that only notes what it is asked. */
function openJobs() {
  const asked: { name: unknown; reply(result?: unknown): void; fail(error: Error): void }[] = [];
  const call = (_: string, name: unknown) =>
    new Promise((reply, fail) => {
      asked.push({ name, reply, fail });
    });
  const scanned: unknown[] = [];
  const scan = async (_: string, name: unknown) => {
    scanned.push(name);
    return [];
  };
  const statements = new StatementCache(new DatabaseSync(':memory:'));
  const jobs = sqliteJobs(statements, { call } as never, async (run) => run(), scan as never);
  return { jobs, asked, scanned };
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

test('lists of jobs are read in the thread for long reads, because they may look at all jobs of an account', async () => {
  const { jobs, scanned } = openJobs();
  await jobs.list({ accountId: 1n, keyId: 2n }, { after: null, limit: 1 });
  await jobs.listGroups({ accountId: 1n, keyId: 2n }, { after: null, limit: 1 });
  await jobs.waitingOf({ accountId: 1n, keyId: 2n }, 1);
  expect(scanned).toEqual(['list', 'listGroups', 'waitingOf']);
});
