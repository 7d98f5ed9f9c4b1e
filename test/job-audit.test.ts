import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submitJob } from '../campaigns/jobs/submitter.ts';
import { JOB_PREFIX } from '../src/canonical/id-prefixes.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, startHarness } from './harness.ts';
import { submitJobs } from './job-caller.ts';

let harness: Harness;
let authorization: string;

beforeAll(async () => {
  harness = await startHarness();
  authorization = `Bearer ${readFileSync(join(harness.folder, 'console.token'), 'utf8').trim()}`;
});
afterAll(() => harness.stop());

async function manage(method: string, path: string): Promise<Record<string, unknown> & { data: unknown[] }> {
  const response = await fetch(`${harness.url}/manage/v1${path}`, { method, headers: { authorization } });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown> & { data: unknown[] };
}

test.each([
  { action: 'job.cancel', path: '/jobs', name: 'job', before: 'scheduled' },
  { action: 'jobgroup.cancel', path: '/job-groups', name: 'job_group', before: 'running' },
] as const)('$action is in the audit once, because cancelling what has ended changes nothing', async (each) => {
  const { secret } = await harness.mint();
  const id = (await submitJobs(harness, secret))[each.name];
  const first = await manage('POST', `${each.path}/${id}/cancel`);
  expect(first.finished_at).not.toBeNull();
  expect(await manage('POST', `${each.path}/${id}/cancel`)).toEqual(first);
  const { data } = await manage('GET', `/audit?subject=${id}`);
  expect(data).toMatchObject([{ action: each.action, account: first.account, before: { status: each.before } }]);
});

test('cancelling a running job again while it stops is not in the audit', async () => {
  const { running, sim } = harness;
  const key = await harness.mint({ creditNanousd: 10_000_000_000n });
  const { id } = await submitJob(running, key, { label: 'slow', sim: { gateHead: 'slow' } });
  const path = `/jobs/${formatId(JOB_PREFIX, id)}`;
  await sim.waitForGate('slow', 1);
  for (let times = 0; times < 2; times++)
    expect(await manage('POST', `${path}/cancel`)).toMatchObject({ status: 'cancelling' });
  sim.release('slow');
  const { data } = await manage('GET', `/audit?subject=${formatId(JOB_PREFIX, id)}`);
  expect(data).toMatchObject([{ action: 'job.cancel', before: { status: 'running' } }]);
});
