import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { submitJob } from '../campaigns/jobs/submitter.ts';
import { readStore } from '../src/config/store.ts';
import type { JobReader } from '../src/jobs/service.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { freshSchema } from './postgres.ts';

const WAIT_MS = 30_000;

let folder: string;
/** Accepts jobs, and runs none. */
let front: Harness;
let runner: Harness;
let key: MintedKey;
let reader: JobReader;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-jobs-'));
  for (const name of ['front', 'runner']) mkdirSync(join(folder, name));
  const store = readStore(await freshSchema());
  const idle = { enabled: false, concurrency: 1, perAccount: 1 };
  front = await startHarness({ hosted: true, folder: join(folder, 'front'), config: { store, jobs: idle } });
  // Processes that share a store share the master keys too.
  const { masterKey } = front.config;
  runner = await startHarness({ hosted: true, folder: join(folder, 'runner'), config: { store, masterKey } });
  key = await front.mint({ creditNanousd: 10_000_000_000n });
  reader = { accountId: key.accountId, keyId: null, personId: null };
});

afterEach(async () => {
  await runner.stop();
  await front.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a job that one process accepted runs in another, and the first has its result', async () => {
  const { id } = await submitJob(front.running, key, { label: 'across' });
  const job = await front.running.jobs.wait(reader, id, WAIT_MS);
  expect(job).toMatchObject({ state: 'succeeded', attempts: 1 });
  expect((await front.running.jobs.result(reader, id)).status).toBe(200);
  expect([front.sim.received(), runner.sim.received()]).toEqual([0, 1]);
  await front.expectCleanBooks();
});

test('a job that runs in another process is cancelled there', async () => {
  const { id } = await submitJob(front.running, key, { label: 'slow', sim: { gateHead: 'slow' } });
  await runner.sim.waitForGate('slow', 1);
  await front.running.jobs.cancel(reader, id);
  runner.sim.release('slow');
  const job = await front.running.jobs.wait(reader, id, WAIT_MS);
  expect(['cancelled', 'succeeded']).toContain(job.state);
  await front.expectCleanBooks();
});
