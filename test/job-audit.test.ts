import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
