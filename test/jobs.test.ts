import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { costOfLines, submitJob } from '../campaigns/jobs/submitter.ts';
import type { JobReader } from '../src/jobs/jobs.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';

const WAIT_MS = 20_000;

let folder: string;
let harness: Harness;
let key: MintedKey;
let reader: JobReader;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-jobs-'));
  harness = await startHarness({ hosted: true, folder });
  key = await harness.mint({ creditNanousd: 10_000_000_000n });
  reader = { accountId: key.accountId, keyId: null, personId: null };
});

afterEach(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('runs jobs on a real store, and keeps the response and the receipt of each', async () => {
  const { running } = harness;
  const submitted = [
    await submitJob(running, key, { label: 'one' }),
    await submitJob(running, key, { label: 'two', terms: { notBeforeMs: running.gateway.clock.nowMs() + 20 } }),
  ];
  for (const { id } of submitted) {
    const job = await running.jobs.wait(reader, id, WAIT_MS);
    expect(job).toMatchObject({ state: 'succeeded', attempts: 1 });
    const { status, lines } = await running.jobs.result(reader, id);
    const receipt = await harness.receipt(formatId('req_', job.callId!), key.secret);
    expect([status, Number(costOfLines(lines))]).toEqual([200, receipt.cost_nanousd]);
  }
  await harness.expectCleanBooks();
});

test('finishes a running job before the gateway stops, and the next start has its result', async () => {
  const { running, sim } = harness;
  const { id } = await submitJob(running, key, { label: 'slow', sim: { gateHead: 'slow' } });
  await sim.waitForGate('slow', 1);
  const waiting = await submitJob(running, key, {
    label: 'later',
    terms: { notBeforeMs: running.gateway.clock.nowMs() + 3_600_000 },
  });
  const stopped = running.stop();
  sim.release('slow');
  await stopped;
  await sim.close();
  harness = await startHarness({ hosted: true, folder });
  expect(await harness.running.jobs.find(reader, id)).toMatchObject({ state: 'succeeded', attempts: 1 });
  expect((await harness.running.jobs.result(reader, id)).status).toBe(200);
  expect(await harness.running.jobs.find(reader, waiting.id)).toMatchObject({ state: 'queued', attempts: 0 });
});

test('cancels a running job as if its client had left, and charges what the host did', async () => {
  const { running, sim } = harness;
  const { id } = await submitJob(running, key, { label: 'slow', sim: { gateHead: 'slow' } });
  await sim.waitForGate('slow', 1);
  expect(await running.jobs.cancel(reader, id)).toMatchObject({ state: 'cancelling' });
  sim.release('slow');
  const job = await running.jobs.wait(reader, id, WAIT_MS);
  expect(job.state).toBe('cancelled');
  const receipt = await harness.receipt(formatId('req_', job.callId!), key.secret);
  expect([receipt.ended, receipt.cost_nanousd]).toEqual(['client_gone', Number(job.costNanousd)]);
  await harness.expectCleanBooks();
});
