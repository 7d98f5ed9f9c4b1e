import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { chatAnswer } from '../../test/fake-hosts.ts';
import { ask } from '../../test/gateway-fixture.ts';
import { ANY_READER, JobsFixture, PLAIN_TERMS } from '../../test/jobs-fixture.ts';
import { buildCatalog } from '../catalog/catalog.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { Job, JobChunkName, JobFilter, JobPage } from '../store/jobs.ts';
import type { GroupRequest, GroupResult } from './jobs.ts';

const HASH = createHash('sha256').update('the whole group').digest();

let fixture: JobsFixture;

beforeEach(async () => {
  fixture = await JobsFixture.open();
});

function lines(...bodies: object[]): GroupRequest[] {
  return bodies.map((body, at) => ({
    line: at + 1,
    endpoint: '/v1/chat/completions',
    body: Buffer.from(JSON.stringify(body)),
    customId: `line-${at + 1}`,
  }));
}

function open(headers = {}, on = fixture) {
  return on.jobs.openGroup(on.submission(Buffer.alloc(0), headers), PLAIN_TERMS);
}

async function accepted(headers = {}, ...bodies: object[]) {
  const intake = await open(headers);
  await intake.add(lines(...bodies));
  return intake.accept(HASH);
}

async function resultsOf(id: bigint): Promise<GroupResult[]> {
  const results: GroupResult[] = [];
  for await (const result of fixture.jobs.groupResults(ANY_READER, id, null)) results.push(result);
  return results;
}

test('reserves the sum of its lines in one step, and makes each a job', async () => {
  const { accepted: group, replayed } = await accepted({}, ask(), ask({ max_tokens: 7 }));
  expect([replayed, group.lines, group.counts.waiting, group.isActive]).toEqual([false, 2, 2, true]);
  const jobs = await fixture.jobs.list(ANY_READER, { groupId: group.id }, { after: null, limit: 10 });
  expect(jobs.map(({ line, customId }) => [line, customId])).toEqual([
    [1, 'line-1'],
    [2, 'line-2'],
  ]);
  const sum = jobs.reduce((all, { reservedNanousd }) => all + reservedNanousd, 0n);
  expect(group.reservedNanousd).toBe(sum);
  expect(await fixture.account()).toMatchObject({ reservedNanousd: sum, heldNanousd: 0n });
});

test('is not visible and reserves nothing before it is accepted', async () => {
  const intake = await open();
  await intake.add(lines(ask()));
  expect(await fixture.jobs.listGroups(ANY_READER, { after: null, limit: 10 })).toEqual([]);
  expect(await fixture.jobs.list(ANY_READER, {}, { after: null, limit: 10 })).toEqual([]);
  await expect(fixture.begin()).rejects.toThrow('No job is due.');
  await intake.abandon();
  expect(await fixture.account()).toMatchObject({ reservedNanousd: 0n });
});

test('names the line that is refused, and its field', async () => {
  const intake = await open();
  await expect(intake.add(lines(ask(), ask({ max_tokens: -1 })))).rejects.toMatchObject({
    status: 400,
    param: 'body.max_tokens',
    message: expect.stringMatching(/^Line 2: /),
  });
});

test('is refused as a whole for money, by its ceiling or the balance', async () => {
  const intake = await open({ 'x-gateway-max-cost-nanousd': '5000' });
  await intake.add(lines(ask(), ask()));
  await expect(intake.accept(HASH)).rejects.toMatchObject({
    kind: 'cost_ceiling_exceeded',
    message: expect.stringContaining('This group could cost up to'),
  });
  const poor = await JobsFixture.open({ creditNanousd: 20_000n });
  const broke = await open({}, poor);
  await broke.add(lines(ask({ max_tokens: 500 }), ask({ max_tokens: 500 }), ask({ max_tokens: 500 })));
  await expect(broke.accept(HASH)).rejects.toMatchObject({ kind: 'insufficient_allowance' });
  expect(await poor.account()).toMatchObject({ reservedNanousd: 0n });
});

test('names the line with which it could cost more than the ledger can hold', async () => {
  const price = { input: 0, output: LIMITS.rateNanousdPerMillionMax };
  const tokens = 5_000_000_000;
  const dear = { id: 'ferry', context_window: 1000, max_output_tokens: tokens, caps: ['chat' as const], price };
  const rows = [{ ...dear, hosts: [{ host: 'alpha', model: 'ferry-at-alpha' }] }];
  const catalog = buildCatalog({ rows, hosts: new Set(['alpha']), version: '2026-02-02-x' });
  Object.assign(fixture.on.gateway, { prices: () => ({ catalog, priceId: 1 }) });
  const intake = await open();
  const line = ask({ max_tokens: tokens });
  await expect(intake.add(lines(line, line))).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/^Line 2: .* more than any account can hold/),
  });
});

test('is accepted although its lines cannot become jobs at once, so that nobody pays for it twice', async () => {
  const { store } = fixture.services;
  const { activate } = store;
  store.activate = () => Promise.reject(new StoreUnavailable('away'));
  const { accepted: group } = await accepted({}, ask(), ask());
  expect([group.lines, group.isActive]).toEqual([2, false]);
  expect(await fixture.account()).toMatchObject({ reservedNanousd: group.reservedNanousd });
  store.activate = activate;
  await fixture.housekeeping.work();
  expect(await fixture.jobs.list(ANY_READER, { groupId: group.id }, { after: null, limit: 10 })).toHaveLength(2);
});

test('is accepted although it cannot be read then, and told as it was sent', async () => {
  const { store } = fixture.services;
  const { findGroup } = store;
  store.findGroup = () => Promise.reject(new StoreUnavailable('away'));
  const { accepted: told, replayed } = await accepted({}, ask(), ask());
  store.findGroup = findGroup;
  const read = await fixture.jobs.findGroup(ANY_READER, told.id);
  expect(replayed).toBe(false);
  expect({ ...read, isActive: false }).toMatchObject(told);
});

test('is accepted once under an idempotency key', async () => {
  const headers = { 'idempotency-key': 'one' };
  const first = await accepted(headers, ask());
  const again = await accepted(headers, ask());
  expect([again.replayed, again.accepted.id]).toEqual([true, first.accepted.id]);
  expect(await fixture.account()).toMatchObject({ reservedNanousd: first.accepted.reservedNanousd });
});

test('is not accepted again under a key that is kept for longer than its row', async () => {
  const headers = { 'idempotency-key': 'one' };
  const first = await accepted(headers, ask());
  Object.assign(fixture.services.store, { findGroup: async () => null });
  await expect(accepted(headers, ask())).rejects.toMatchObject({ status: 409, kind: 'idempotency_finished' });
  expect(await fixture.account()).toMatchObject({ reservedNanousd: first.accepted.reservedNanousd });
});

test('gives its results in the order of its lines, with the responses that were stored', async () => {
  const { accepted: group } = await accepted({}, ask({ model: 'raft' }), ask());
  const first = await fixture.begin();
  (await fixture.on.hosts.next()).answer(400, { error: { message: 'No.' } });
  await first.done;
  const second = await fixture.begin();
  (await fixture.on.hosts.next()).answer(200, chatAnswer());
  await second.done;
  const results = await resultsOf(group.id);
  expect(results.map(({ job, answer }) => [job.customId, job.state, answer?.status])).toEqual([
    ['line-1', 'failed', 400],
    ['line-2', 'succeeded', 200],
  ]);
  expect(await fixture.jobs.findGroup(ANY_READER, group.id)).toMatchObject({
    counts: { waiting: 0, succeeded: 1, failed: 1 },
    reservedNanousd: 0n,
    chargedNanousd: results[1]!.job.costNanousd,
  });
});

test('ends all its jobs that wait when it is cancelled', async () => {
  const { accepted: group } = await accepted({}, ask(), ask(), ask());
  const cancelled = await fixture.jobs.cancelGroup(ANY_READER, group.id);
  expect(cancelled).toMatchObject({ counts: { waiting: 0, cancelled: 3 }, reservedNanousd: 0n });
  expect(await fixture.account()).toMatchObject({ reservedNanousd: 0n });
});

test('is cancelled with a job that goes back to the queue while its jobs are listed', async () => {
  const { accepted: group } = await accepted({}, ask({ model: 'raft' }));
  const { done } = await fixture.begin();
  const asked = await fixture.on.hosts.next();
  const { store } = fixture.services;
  const list = store.list.bind(store);
  // The engines list state by state, and others write in between.
  const listByState = async (filter: JobFilter, page: JobPage): Promise<Job[]> => {
    const found: Job[] = [];
    for (const state of filter.states ?? []) {
      found.push(...(await list({ ...filter, states: [state] }, page)));
      if (state === 'queued') asked.answer(503, { error: { message: 'Busy.' } });
      await done;
    }
    return found;
  };
  Object.assign(store, { list: listByState });
  const cancelled = await fixture.jobs.cancelGroup(ANY_READER, group.id);
  expect(cancelled).toMatchObject({ counts: { waiting: 0, running: 0, cancelled: 1 }, reservedNanousd: 0n });
});

test('can be cancelled before all of its lines are jobs, as after a process has died', async () => {
  const intake = await open();
  await intake.add(lines(ask(), ask()));
  const { store } = fixture.services;
  const activate = store.activate.bind(store);
  Object.assign(store, { activate: () => Promise.reject(new Error('killed')) });
  const { accepted: group } = await intake.accept(HASH);
  Object.assign(store, { activate });
  expect(group).toMatchObject({ isActive: false, counts: { waiting: 2 } });
  expect(await fixture.jobs.cancelGroup(ANY_READER, group.id)).toMatchObject({
    counts: { waiting: 0, cancelled: 2 },
    reservedNanousd: 0n,
  });
  await fixture.housekeeping.work();
  await expect(fixture.begin()).rejects.toThrow('No job is due.');
  expect(await fixture.account()).toMatchObject({ reservedNanousd: 0n });
});

test('gives the results of its other jobs if one can no longer be read', async () => {
  const { accepted: group } = await accepted({}, ask(), ask());
  for (let job = 0; job < 2; job++) {
    const { done } = await fixture.begin();
    (await fixture.on.hosts.next()).answer(200, chatAnswer());
    await done;
  }
  const [first] = await fixture.jobs.list(ANY_READER, { groupId: group.id }, { after: null, limit: 10 });
  const { store } = fixture.services;
  const readChunk = store.readChunk.bind(store);
  Object.assign(store, {
    readChunk: async (name: JobChunkName) => (name.jobId === first!.id ? null : readChunk(name)),
  });
  const results = await resultsOf(group.id);
  expect(results.map(({ answer }) => answer?.status ?? null)).toEqual([null, 200]);
  await expect(fixture.jobs.result(ANY_READER, first!.id)).rejects.toMatchObject({ kind: 'result_expired' });
});

/** What each commit of the intake wrote: its jobs and the parts of their requests. */
function watchCommits(): string[] {
  const { store } = fixture.services;
  const commits: string[] = [];
  const { stage, putChunks } = store;
  store.stage = (jobs, chunks) => {
    commits.push(`${jobs.length} jobs, ${chunks.length} parts`);
    return stage(jobs, chunks);
  };
  store.putChunks = (chunks) => {
    commits.push(`${chunks.length} parts`);
    return putChunks(chunks);
  };
  return commits;
}

test('is stored in commits of a few lines each, so that calls never wait for long', async () => {
  const commits = watchCommits();
  const most = LIMITS.jobStageRowsMax;
  const { accepted: group } = await accepted({}, ...Array.from({ length: 2 * most + 1 }, () => ask()));
  expect(commits.filter((commit) => commit.includes('jobs'))).toEqual([
    `${most} jobs, ${most} parts`,
    `${most} jobs, ${most} parts`,
    '1 jobs, 1 parts',
  ]);
  expect(group.lines).toBe(2 * most + 1);
});

test('stores a large request alone, and in several commits', async () => {
  const commits = watchCommits();
  const intake = await open();
  const [small, large, last] = lines(ask(), ask(), ask());
  const body = Buffer.from(`${' '.repeat(2_500_000)}${large!.body}`);
  await intake.add([small!, { ...large!, body }, last!]);
  const { accepted: group } = await intake.accept(HASH);
  expect(commits.filter((commit) => commit.includes('jobs'))).toEqual(Array(3).fill('1 jobs, 1 parts'));
  const { request } = (await fixture.jobs.list(ANY_READER, { groupId: group.id }, { after: null, limit: 3 }))[1]!;
  expect(request.chunks).toBe(3);
});

test('is refused if what is being stored belongs to a group that is gone', async () => {
  fixture.services.store.stage = async () => 'no_group';
  const intake = await open();
  await intake.add(lines(ask()));
  await expect(intake.accept(HASH)).rejects.toMatchObject({ kind: 'request_timeout' });
});
