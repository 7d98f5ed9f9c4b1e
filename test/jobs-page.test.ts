import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { blocksOf } from './doc-blocks.ts';
import { type Harness, startHarness } from './harness.ts';
import { JobCaller } from './job-caller.ts';
import { shapeOf } from './shape-of.ts';
import { pollOften } from './short-polls.ts';
import { until } from './until.ts';

/** Sends the request of docs/jobs.md, and compares answers and events with those of the page. The receiver is that of docs/webhooks.md. */

const [REQUEST, JOB, GROUP, JOB_EVENT, GROUP_EVENT] = blocksOf('docs/jobs.md')
  .filter(({ mark }) => mark === 'checked: test/jobs-page.test.ts')
  .map(({ text }) => JSON.parse(text) as Record<string, unknown>) as [
  Record<string, unknown>,
  ...Record<string, unknown>[],
];
const BODY = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }] };

const folder = mkdtempSync(join(tmpdir(), 'tollgate-jobs-page-'));
const events: Record<string, unknown>[] = [];
let harness: Harness;
let caller: JobCaller;
let receiver: Server;
let receiverUrl: string;

beforeAll(pollOften);
beforeAll(async () => {
  harness = await startHarness();
  const { secret } = await harness.mint({ permissions: ['webhooks'] });
  caller = new JobCaller(harness, secret);
  const put = async (url: string) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ url });
    const answer = await fetch(`${harness.url}/v1/webhooks/billing`, { method: 'PUT', headers, body });
    return (await answer.json()) as { secret: string | null };
  };
  const webhook = await put('http://127.0.0.1:2');
  receiver = await startReceiver(webhook.secret!);
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  await put(receiverUrl);
});
afterAll(async () => {
  receiver.close();
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the code of the page, on a port of its own. */
async function startReceiver(secret: string): Promise<Server> {
  const [code] = blocksOf('docs/webhooks.md').filter(({ mark }) => mark === 'checked: test/jobs-page.test.ts');
  symlinkSync(resolve(import.meta.dirname, '..', 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'receiver.ts'), code!.text);
  vi.stubEnv('WEBHOOK_SECRET', secret);
  vi.spyOn(console, 'log').mockImplementation((event: Record<string, unknown>) => void events.push(event));
  const listen = Server.prototype.listen;
  const listening = new Promise<Server>((done) => {
    vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function (this: Server) {
      return listen.call(this, { port: 0, host: '127.0.0.1' }, () => done(this));
    });
  });
  await import(join(folder, 'receiver.ts'));
  return listening;
}

async function eventOf(type: string): Promise<Record<string, unknown>> {
  const found = () => events.find((event) => event.type === type);
  await until(() => found() !== undefined, `${type} has arrived`);
  return found()!;
}

const hoursAhead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

test('a job is accepted and shown as the page says', async () => {
  const times = { not_before: hoursAhead(1), expires_at: hoursAhead(2) };
  const { status, body } = await caller.ask('POST', '', { ...REQUEST, body: BODY, ...times });
  expect([status, body.status]).toEqual([202, JOB!.status]);
  expect(shapeOf(body)).toEqual(shapeOf(JOB));
});

test('the end of a job is told as the page says', async () => {
  const { not_before: _, expires_at: __, ...request } = REQUEST;
  await caller.submit({ ...request, body: BODY });
  expect(shapeOf(await eventOf('job.succeeded'))).toEqual(shapeOf(JOB_EVENT));
});

test('a group is accepted and shown, and its end told, as the page says', async () => {
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: BODY };
  const { body } = await caller.ask('POST', '/groups', { requests: [line, { ...line, custom_id: 'b' }] });
  expect(shapeOf(body)).toEqual(shapeOf(GROUP));
  expect(shapeOf(await eventOf('group.finished'))).toEqual(shapeOf(GROUP_EVENT));
});

test('the receiver of the page refuses what the gateway did not sign', async () => {
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1790000000', 'webhook-signature': 'v1,AAAA' };
  const { status } = await fetch(receiverUrl, { method: 'POST', headers, body: '{"type":"job.succeeded"}' });
  expect(status).toBe(400);
});
