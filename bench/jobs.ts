import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PLAIN_TERMS, type Submitted, type Submitter, submitJob } from '../campaigns/jobs/submitter.ts';
import type { GroupRequest } from '../src/jobs/service.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { startSimulator } from '../src/main/simulator.ts';
import { type Harness, type MintedKey, simHost, startHarness } from '../test/harness.ts';
import { describeMachine } from './machine.ts';
import { median } from './table.ts';

/** What deferred jobs cost: how submitting, claiming and reading depend on the jobs that wait, and what calls and other accounts notice. */

const { values } = parseArgs({
  options: {
    /** Lines of the group that is taken in, and jobs that wait afterwards. */
    lines: { type: 'string', default: '50000' },
    /** How long calls are measured in each state. */
    seconds: { type: 'string', default: '10' },
  },
});
const lines = Number(values.lines);
const seconds = Number(values.seconds);

const CREDIT_NANOUSD = 1_000_000_000_000_000n;
const ROUNDS = 200;
const CALLERS = 8;
const JOB_MS = 50;

async function main(): Promise<void> {
  const scratch = join(import.meta.dirname, '../.tollgate');
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, 'bench-'));
  const host = await startSimulator();
  print('machine', JSON.stringify(describeMachine(folder)));
  try {
    await whileTheyWait(join(folder, 'waiting'), host.url);
    await whileTheyRun(join(folder, 'running'), host.url);
  } finally {
    host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(folder: string, hostUrl: string, enabled: boolean): Promise<Harness> {
  mkdirSync(folder);
  const jobs = { enabled, concurrency: 16, perAccount: 8 };
  return startHarness({ hosted: true, folder, config: { jobs }, hosts: () => [simHost({ url: hostUrl })] });
}

/** A gateway that runs no jobs, before, while and after it takes in a large group. */
async function whileTheyWait(folder: string, hostUrl: string): Promise<void> {
  const harness = await open(folder, hostUrl, false);
  const key = await harness.mint({ creditNanousd: CREDIT_NANOUSD });
  const caller = await harness.mint({ creditNanousd: CREDIT_NANOUSD });
  const before = await operations(harness, key);
  const quiet = await callsP99(harness, caller, async () => await pause(seconds * 1000));
  const startedMs = performance.now();
  const during = await callsP99(harness, caller, () => takeIn(harness, key));
  print(`group of ${lines} lines, taken in within`, `${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  print('p99 of calls meanwhile', ratioOf(during, quiet));
  const after = await operations(harness, key);
  for (const [name, ms] of Object.entries(after)) {
    print(`${name} with ${lines} jobs waiting`, ratioOf(ms, before[name as keyof Operations]));
  }
  await harness.stop();
}

/** A gateway whose host is busy with the jobs of one account. */
async function whileTheyRun(folder: string, hostUrl: string): Promise<void> {
  const harness = await open(folder, hostUrl, true);
  const [many, one, caller] = [await rich(harness), await rich(harness), await rich(harness)];
  const quiet = await callsP99(harness, caller, async () => await pause(seconds * 1000));
  const jobs = Math.ceil((seconds * 2 * 1000 * 16) / JOB_MS);
  await Promise.all(Array.from({ length: Math.min(jobs, 5_000) }, (_, at) => submit(harness, many, `many ${at}`)));
  const busy = await callsP99(harness, caller, async () => await pause(seconds * 1000));
  print('p99 of calls while jobs run', ratioOf(busy, quiet));
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
  const nowMs = running.gateway.clock.nowMs();
  return {
    submit: await medianMs((at) => submit(harness, key, `single ${at}`)),
    claim: await medianMs(async () => {
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
  for (let from = 0; from < lines; from += LIMITS.jobStageRowsMax) {
    const size = Math.min(LIMITS.jobStageRowsMax, lines - from);
    await intake.add(Array.from({ length: size }, (_, at) => lineOf(from + at + 1)));
  }
  await intake.accept(createHash('sha256').update(String(id)).digest());
}

function lineOf(line: number): GroupRequest {
  const content = `Say in one sentence what line ${line} of this file is about. ${'word '.repeat(40)}`;
  const body = { model: 'sim-gpt', max_tokens: 20, messages: [{ role: 'user', content }] };
  return { line, endpoint: '/v1/chat/completions', body: Buffer.from(JSON.stringify(body)), customId: `line-${line}` };
}

/** The 99th percentile of calls that a few clients make one after another until the work is done. */
async function callsP99(harness: Harness, { secret }: MintedKey, work: () => Promise<void>): Promise<number> {
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
  await work();
  isOver = true;
  await Promise.all(callers);
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function ratioOf(ms: number, otherMs: number): string {
  return `${ms.toFixed(2)} ms, ${(ms / otherMs).toFixed(2)} times ${otherMs.toFixed(2)} ms`;
}

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(48)} ${value}\n`);
}

await main();
