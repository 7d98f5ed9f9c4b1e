import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { parseId } from '../src/kit/ids.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { CHAT, chatBody, JobCaller } from './job-caller.ts';
import { pollOften } from './short-polls.ts';
import { until } from './until.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How far the gateway's time of day is ahead. Its timers run as usual. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };

let harness: Harness;
let receiver: Receiver;
let key: MintedKey;
let caller: JobCaller;

beforeAll(pollOften);
beforeAll(async () => {
  [harness, receiver] = await Promise.all([startHarness({ clock }), startReceiver()]);
  key = await harness.mint({ permissions: ['webhooks'] });
  caller = new JobCaller(harness, key.secret);
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const bearer = () => ({ authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' });
const job = (more: object = {}) => ({ endpoint: CHAT, body: chatBody('Hello'), ...more });

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
}

async function delivery(name: string): Promise<Delivery | undefined> {
  const { data } = (await (await harness.get(`/v1/webhooks/${name}/deliveries`, bearer())).json()) as {
    data: Delivery[];
  };
  return data[0];
}

test('a receiver that fails for an hour is told of a job afterwards, under the same id', async () => {
  await receiver.set({ status: 503 });
  const body = JSON.stringify({ url: receiver.url });
  const put = await fetch(`${harness.url}/v1/webhooks/slow`, { method: 'PUT', headers: bearer(), body });
  const { secret } = (await put.json()) as { secret: string };
  await receiver.set({ secret });
  await caller.ended(await caller.submit(job()));
  for (let attempt = 1; attempt <= 3; attempt++) {
    await until(async () => (await delivery('slow'))?.attempts === attempt, `attempt ${attempt} has ended`);
    expect(await delivery('slow')).toMatchObject({ status: 'pending' });
    aheadMs += 20 * MINUTE_MS;
  }
  await receiver.set({ status: 200 });
  await until(async () => (await delivery('slow'))?.status === 'delivered', 'it is delivered');
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(4);
  expect(new Set(ids)).toEqual(new Set([(await delivery('slow'))!.id]));
  // Each attempt is signed at its own time, so that a receiver can refuse one that is sent again by somebody else.
  expect(receiver.received[0]!.event).toMatchObject({ type: 'job.succeeded' });
  expect(receiver.received[3]!.refused).toContain('timestamp');
});

test('a job that is scheduled a month ahead delays neither the closing of the books nor retention nor reports', async () => {
  const { store } = harness.running.books;
  const at = (days: number) => new Date(clock.nowMs() + days * DAY_MS).toISOString();
  const live = await Promise.all([1, 2, 3].map(() => harness.post(chatBody('Hello'), bearer())));
  const receipts = live.map(({ headers }) => parseId('req_', headers.get('x-gateway-request-id')!)!);
  const id = await caller.submit(job({ not_before: at(29), expires_at: at(29.9) }));
  const accepted = (await caller.ask('GET', `/${id}`)).body;
  expect(accepted).toMatchObject({ status: 'scheduled' });
  aheadMs += 28 * DAY_MS;
  const { closed, forgotten } = await store.closeBooks(clock.nowMs() - 7 * DAY_MS);
  expect(closed).toBeGreaterThanOrEqual(3);
  expect(forgotten).toBe(closed);
  for (const receipt of receipts) expect(await store.findReceipt(receipt, key.accountId)).toBeNull();
  const since = new Date(clock.nowMs() - 29 * DAY_MS).toISOString().slice(0, 10);
  const usage = await harness.get(`/v1/usage?group_by=model&since=${since}`, bearer());
  expect([usage.status, JSON.stringify(await usage.json())]).toEqual([200, expect.stringContaining('sim-gpt-mini')]);
  expect(await (await harness.get('/v1/balance', bearer())).json()).toMatchObject({
    reserved_nanousd: accepted.reserved_nanousd,
  });
  await harness.expectCleanBooks();
  aheadMs += 1.5 * DAY_MS;
  expect(await caller.ended(id)).toMatchObject({ status: 'succeeded', price_version: accepted.price_version });
  await harness.expectCleanBooks();
});

test('a webhook that leads to a forbidden address when a job ends is not connected to, and the job is done all the same', async () => {
  let addresses = ['203.0.114.9'];
  let dials = 0;
  const dial = (): never => {
    dials++;
    throw new Error('nobody is called here');
  };
  const hosted = await startHarness({ hosted: true, world: { resolve: async () => addresses, dial } });
  const owner = await hosted.mint({ permissions: ['webhooks'] });
  const headers = { authorization: `Bearer ${owner.secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'https://hooks.example.com/in' });
  await fetch(`${hosted.url}/v1/webhooks/hook`, { method: 'PUT', headers, body });
  addresses = ['169.254.169.254'];
  const hostedCaller = new JobCaller(hosted, owner.secret);
  expect(await hostedCaller.ended(await hostedCaller.submit(job()))).toMatchObject({ status: 'succeeded' });
  let tried: Record<string, unknown> = {};
  await until(async () => {
    const { data } = (await (await hosted.get('/v1/webhooks/hook/deliveries', headers)).json()) as { data: object[] };
    tried = (data[0] ?? {}) as Record<string, unknown>;
    return ((tried.attempts as number | undefined) ?? 0) > 0;
  }, 'the delivery was tried');
  expect([tried.type, tried.status, tried.http_status, dials]).toEqual(['job.succeeded', 'pending', null, 0]);
  await hosted.stop();
});
