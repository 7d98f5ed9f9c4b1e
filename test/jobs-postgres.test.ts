import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { submitJob } from '../campaigns/jobs/submitter.ts';
import { readStore } from '../src/config/store.ts';
import type { JobReader } from '../src/jobs/jobs.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { batchLine, CHAT, chatBody, JobCaller } from './job-caller.ts';
import { type EmptySchema, emptySchema } from './postgres.ts';
import { takeSnapshot } from './postgres-snapshot.ts';
import { pollOften } from './short-polls.ts';
import { until } from './until.ts';

const WAIT_MS = 30_000;
const ONE_AT_A_TIME = { enabled: true, concurrency: 1, perAccount: 1 };

let folder: string;
let schema: EmptySchema;
/** Accepts jobs, and runs none. */
let front: Harness;
let runner: Harness;
let key: MintedKey;
let reader: JobReader;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-jobs-'));
  for (const name of ['front', 'runner']) mkdirSync(join(folder, name));
  schema = await emptySchema();
  const store = readStore(schema.url);
  const idle = { enabled: false, concurrency: 1, perAccount: 1 };
  front = await startHarness({ hosted: true, folder: join(folder, 'front'), config: { store, jobs: idle } });
  // Processes that share a store share the master keys too.
  const { masterKey } = front.config;
  runner = await startHarness({
    hosted: true,
    folder: join(folder, 'runner'),
    config: { store, masterKey, jobs: ONE_AT_A_TIME },
  });
  key = await front.mint({ creditNanousd: 10_000_000_000n });
  reader = { accountId: key.accountId, keyId: null, personId: null };
});

afterEach(async () => {
  await runner.stop();
  await front.stop();
  await schema.giveBack();
  rmSync(folder, { recursive: true, force: true });
});

test('a job that one process accepted runs in another, and the first has its result', async () => {
  onTestFinished(pollOften());
  const { id } = await submitJob(front.running, key, { label: 'across' });
  const job = await front.running.jobs.wait(reader, id, WAIT_MS);
  expect(job).toMatchObject({ state: 'succeeded', attempts: 1 });
  expect((await front.running.jobs.result(reader, id)).status).toBe(200);
  expect([front.sim.received(), runner.sim.received()]).toEqual([0, 1]);
  await front.expectCleanBooks();
});

test('a job that runs in another process is cancelled there', async () => {
  onTestFinished(pollOften());
  const { id } = await submitJob(front.running, key, { label: 'slow', sim: { gateHead: 'slow' } });
  await runner.sim.waitForGate('slow', 1);
  await front.running.jobs.cancel(reader, id);
  runner.sim.release('slow');
  const job = await front.running.jobs.wait(reader, id, WAIT_MS);
  expect(['cancelled', 'succeeded']).toContain(job.state);
  await front.expectCleanBooks();
});

test('jobs that ran after the state that the database is put back to do not run again by themselves', async () => {
  onTestFinished(pollOften());
  const label = (name: string) => ({ label: name, sim: { gateHead: name } });
  const { jobs } = front.running;
  const running = await submitJob(front.running, key, label('running'));
  await runner.sim.waitForGate('running', 1);
  const waiting = await submitJob(front.running, key, { label: 'waiting' });
  const { putBack } = await takeSnapshot(schema.url);
  runner.sim.release('running');
  for (const { id } of [running, waiting])
    expect(await jobs.wait(reader, id, WAIT_MS)).toMatchObject({ state: 'succeeded' });
  await putBack();
  const states = async () => Promise.all([running, waiting].map(async ({ id }) => (await jobs.find(reader, id)).state));
  await until(async () => (await states()).every((state) => state === 'paused'), 'both jobs are paused');
  for (const { get } of [front, runner]) await until(async () => (await get('/readyz')).status === 200, 'it is ready');
  const after = await submitJob(front.running, key, { label: 'after' });
  expect(await jobs.wait(reader, after.id, WAIT_MS)).toMatchObject({ state: 'succeeded' });
  expect([await states(), runner.sim.received()]).toEqual([['paused', 'paused'], 3]);
  expect(await jobs.resumeRestored()).toBe(2);
  for (const { id } of [running, waiting]) {
    runner.sim.release('running');
    expect(await jobs.wait(reader, id, WAIT_MS)).toMatchObject({ state: 'succeeded' });
  }
  expect(runner.sim.received()).toBe(5);
  await front.expectCleanBooks();
});

test('the routes of jobs and groups do the same as on SQLite', async () => {
  onTestFinished(pollOften());
  const caller = new JobCaller(front, key.secret);
  const job = { endpoint: CHAT, body: chatBody('Hello'), custom_id: 'mine' };
  const headers = { 'idempotency-key': 'once' };
  const id = await caller.submit(job, headers);
  expect(await caller.submit(job, headers)).toBe(id);
  const ended = await caller.ended(id);
  expect(ended).toMatchObject({ status: 'succeeded', attempts: 1, reserved_nanousd: 0 });
  const result = await caller.ask('GET', `/${id}/result`);
  expect([result.status, result.headers.get('x-gateway-cost-nanousd')]).toEqual([200, String(ended.cost_nanousd)]);
  const group = await caller.submitLines(Array.from({ length: 40 }, (_, at) => batchLine(`line-${at + 1}`)));
  expect((await caller.ended(group)).counts).toMatchObject({ total: 40, succeeded: 40 });
  const lines = await caller.results(group);
  expect(lines.map(({ custom_id }) => custom_id)).toEqual(lines.map((_, at) => `line-${at + 1}`));
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await caller.submit({ ...job, not_before: later });
  expect((await caller.ask('GET', '?status=scheduled')).body.data).toMatchObject([{ id: scheduled }]);
  expect((await caller.ask('POST', `/${scheduled}/cancel`)).body).toMatchObject({ status: 'cancelled' });
  expect((await caller.ask('DELETE', `/${id}`)).status).toBe(200);
  expect((await caller.ask('GET', `/${id}/result`)).status).toBe(410);
  const refused = `${JSON.stringify(batchLine('a'))}\n${JSON.stringify({ ...batchLine('b'), url: '/v1/images' })}`;
  const bad = await caller.ask('POST', '/groups', refused, { 'content-type': 'application/jsonl' });
  expect([bad.status, JSON.stringify(bad.body)]).toEqual([400, expect.stringContaining('Line 2: ')]);
  const stranger = new JobCaller(front, (await front.mint()).secret);
  expect((await stranger.ask('GET', `/${id}`)).status).toBe(404);
  await front.expectCleanBooks();
});
