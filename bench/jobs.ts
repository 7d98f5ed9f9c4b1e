import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PLAIN_TERMS, type Submitted, type Submitter, submitJob } from '../campaigns/jobs/submitter.ts';
import type { GroupRequest } from '../src/jobs/jobs.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { startSimulator } from '../src/main/simulator.ts';
import { type Harness, type MintedKey, simHost, startHarness } from '../test/harness.ts';
import { readFlags } from '../test/read-flags.ts';
import { describeMachine } from './machine.ts';
import { inScratchFolder } from './scratch.ts';
import { median } from './table.ts';

/**
 * What deferred jobs cost: how submitting, claiming and reading depend on the number of waiting jobs, and how they
 * affect calls and other accounts.
 */

const { values } = readFlags({
  options: {
    /** Lines of the group that is taken in. */
    lines: { type: 'string', default: '50000' },
    /** Jobs that wait while submitting, claiming, listing and reading a balance are measured. */
    waiting: { type: 'string', default: '100000,200000' },
    /** What to measure: the intake of a group, many waiting jobs, jobs that run. */
    parts: { type: 'string', default: 'intake,waiting,running' },
    /** How long calls are measured in each state. */
    seconds: { type: 'string', default: '10' },
  },
});
const lines = Number(values.lines);
const seconds = Number(values.seconds);
const waiting = values.waiting.split(',').map(Number);
const parts = new Set(values.parts.split(','));

const CREDIT_NANOUSD = 1_000_000_000_000_000n;
const ROUNDS = 200;
const CALLERS = 8;
const JOB_MS = 50;

async function main(folder: string): Promise<void> {
  const host = await startSimulator();
  print('machine', JSON.stringify(describeMachine(folder)));
  try {
    if (parts.has('intake')) await whileTheyArrive(join(folder, 'intake'), host.url);
    if (parts.has('waiting')) await whileTheyWait(join(folder, 'waiting'), host.url);
    if (parts.has('running')) await whileTheyRun(join(folder, 'running'), host.url);
  } finally {
    host.stop();
  }
}

function open(folder: string, hostUrl: string, enabled: boolean): Promise<Harness> {
  mkdirSync(folder, { recursive: true });
  const jobs = { enabled, concurrency: 16, perAccount: 8 };
  return startHarness({ hosted: true, folder, config: { jobs }, hosts: () => [simHost({ url: hostUrl })] });
}

/** Calls to a gateway that runs no jobs, before and while it takes in a large group. */
async function whileTheyArrive(folder: string, hostUrl: string): Promise<void> {
  const harness = await open(folder, hostUrl, false);
  const [key, caller] = [await rich(harness), await rich(harness)];
  const takesMs = await timed(() => takeIn(harness, key));
  print(`group of ${lines} lines without calls, taken in within`, `${(takesMs / 1000).toFixed(1)} s`);
  const quiet = await callTimes(harness, caller, () => pause(seconds * 1000));
  const startedMs = performance.now();
  const during = await callTimes(harness, caller, () => takeIn(harness, key));
  print('the same with calls', `${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  print('calls a second meanwhile', ratioOf(during.perSecond, quiet.perSecond, ''));
  print('median of calls meanwhile', ratioOf(during.p50, quiet.p50));
  print('p99 of calls meanwhile', ratioOf(during.p99, quiet.p99));
  await harness.stop();
}

/** What depends on how many jobs wait. */
async function whileTheyWait(folder: string, hostUrl: string): Promise<void> {
  let harness = await open(folder, hostUrl, false);
  const key = await rich(harness);
  const before = await operations(harness, key);
  for (const count of waiting) {
    await harness.stop();
    fillWithJobs(folder, key.accountId, count - ROUNDS);
    harness = await open(folder, hostUrl, false);
    for (const [name, ms] of Object.entries(await operations(harness, key))) {
      print(`${name} with ${count} jobs waiting`, ratioOf(ms, before[name as keyof Operations]));
    }
  }
  await harness.expectCleanBooks();
  await harness.stop();
}

/** Copies a waiting job of the account until it has this many, with the sums that belong to them. */
function fillWithJobs(folder: string, accountId: bigint, count: number): void {
  const database = new DatabaseSync(join(folder, 'tollgate.sqlite'), { readBigInts: true });
  const owner = String(accountId);
  const { waiting: has } = database.prepare(`SELECT waiting FROM job_account WHERE account_id = ${owner}`).get() as {
    waiting: bigint;
  };
  const missing = BigInt(count) - has;
  const first = database.prepare(`SELECT * FROM job WHERE account_id = ${owner} LIMIT 1`).get()!;
  const { id, reserved, request_bytes: bytes } = first as Record<string, bigint>;
  // Before the first job, so that no id is taken twice.
  const columns = Object.keys(first).map((name) => (name === 'id' ? `id - 1000000 - ${has} - n` : name));
  database.exec(`BEGIN;
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${missing})
    INSERT INTO job SELECT ${columns} FROM job, numbers WHERE id = ${id};
    UPDATE job_account SET waiting = waiting + ${missing}, bytes = bytes + ${missing * bytes!} WHERE account_id = ${owner};
    UPDATE balance SET reserved = reserved + ${missing * reserved!} WHERE account_id = ${owner};
    UPDATE key_window SET reserved = reserved + ${missing * reserved!} WHERE window_id = (SELECT window_id FROM job WHERE id = ${id});
    COMMIT`);
  database.close();
}

/** A gateway whose host is busy with the jobs of one account. */
async function whileTheyRun(folder: string, hostUrl: string): Promise<void> {
  const harness = await open(folder, hostUrl, true);
  const [many, one, caller] = [await rich(harness), await rich(harness), await rich(harness)];
  const quiet = await callTimes(harness, caller, () => pause(seconds * 1000));
  const jobs = Math.ceil((seconds * 2 * 1000 * 16) / JOB_MS);
  await Promise.all(Array.from({ length: Math.min(jobs, 5_000) }, (_, at) => submit(harness, many, `many ${at}`)));
  const busy = await callTimes(harness, caller, () => pause(seconds * 1000));
  print('p99 of calls while jobs run', ratioOf(busy.p99, quiet.p99));
  const delays: number[] = [];
  for (let round = 0; round < 10; round++) delays.push(await endedAfterMs(harness, one, `one ${round}`));
  print(
    `another account's job of ${JOB_MS} ms ends after`,
    `${median(delays).toFixed(0)} ms, ${Math.max(...delays).toFixed(0)} ms at most`,
  );
  await harness.stop();
}

function rich(harness: Harness): Promise<MintedKey> {
  return harness.mint({ creditNanousd: CREDIT_NANOUSD });
}

function submit({ running }: Harness, payer: Submitter, label: string, more: Partial<Submitted> = {}) {
  return submitJob(running, payer, { label, sim: { delayMs: JOB_MS }, ...more });
}

async function endedAfterMs(harness: Harness, payer: MintedKey, label: string): Promise<number> {
  const startedMs = performance.now();
  const { id } = await submit(harness, payer, label);
  const reader = { accountId: payer.accountId, keyId: null, personId: null };
  const { state } = await harness.running.jobs.wait(reader, id, 60_000);
  if (state !== 'succeeded') throw new Error(`The job is ${state}.`);
  return performance.now() - startedMs;
}

interface Operations {
  readonly submit: number;
  readonly claim: number;
  readonly list: number;
  readonly balance: number;
}

async function operations(harness: Harness, key: MintedKey): Promise<Operations> {
  const { running } = harness;
  const store = running.books.store.jobs;
  const reader = { accountId: key.accountId, keyId: null, personId: null };
  return {
    submit: await medianMs((at) => submit(harness, key, `single ${at}`)),
    claim: await medianMs(async () => {
      const nowMs = running.gateway.clock.nowMs();
      await store.accountsWithDueJobs(nowMs, null, LIMITS.jobAccountsAtOnce);
      await store.claim(key.accountId, nowMs, 1, 1);
    }),
    list: await medianMs(() => running.jobs.list(reader, {}, { after: null, limit: 100 })),
    balance: await medianMs(() => running.books.ledger.balance(key.accountId, null)),
  };
}

async function medianMs(run: (at: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < ROUNDS; at++) {
    const startedMs = performance.now();
    await run(at);
    times.push(performance.now() - startedMs);
  }
  return median(times);
}

async function takeIn({ running }: Harness, { accountId, keyId }: MintedKey): Promise<void> {
  const { books, gateway, jobs } = running;
  const id = books.ids.next();
  const caller = { accountId, keyId, key: await books.store.findKey(keyId) };
  const startedMs = gateway.clock.monotonicMs();
  const intake = await jobs.openGroup(
    { id, requestId: formatId('req_', id), caller, headers: {}, startedMs },
    PLAIN_TERMS,
  );
  await intake.add(Array.from({ length: lines }, (_, at) => lineOf(at + 1)));
  await intake.accept(createHash('sha256').update(String(id)).digest());
}

function lineOf(line: number): GroupRequest {
  const content = `Say in one sentence what line ${line} of this file is about. ${'word '.repeat(40)}`;
  const body = { model: 'sim-gpt', max_tokens: 20, messages: [{ role: 'user', content }] };
  return { line, endpoint: '/v1/chat/completions', body: Buffer.from(JSON.stringify(body)), customId: `line-${line}` };
}

interface CallTimes {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** How long calls take that a few clients make one after another until the work is done. */
async function callTimes(harness: Harness, { secret }: MintedKey, work: () => Promise<void>): Promise<CallTimes> {
  const times: number[] = [];
  let isOver = false;
  const headers = { authorization: `Bearer ${secret}` };
  const ask = { model: 'sim-gpt', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      const startedMs = performance.now();
      const response = await harness.post(ask, headers);
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`A call was answered with ${response.status}.`);
      times.push(performance.now() - startedMs);
    }
  });
  const takesMs = await timed(work);
  isOver = true;
  await Promise.all(callers);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)]!;
  return { p50: at(0.5), p99: at(0.99), perSecond: (times.length / takesMs) * 1000 };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function ratioOf(value: number, other: number, unit = ' ms'): string {
  return `${value.toFixed(2)}${unit}, ${(value / other).toFixed(2)} times ${other.toFixed(2)}${unit}`;
}

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(48)} ${value}\n`);
}

await inScratchFolder(main);
