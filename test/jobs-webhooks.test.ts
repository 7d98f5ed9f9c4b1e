import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { batchLine, CHAT, chatBody, JobCaller } from './job-caller.ts';
import { pollOften } from './short-polls.ts';
import { until } from './until.ts';
import { type Received, type Receiver, startReceiver } from './webhook-receiver.ts';

let harness: Harness;
let receiver: Receiver;
let key: MintedKey;
let caller: JobCaller;

beforeAll(pollOften);
beforeAll(async () => {
  [harness, receiver] = await Promise.all([startHarness(), startReceiver()]);
});
beforeEach(async () => {
  key = await harness.mint({ permissions: ['webhooks'] });
  caller = new JobCaller(harness, key.secret);
  await receiver.set({ status: 200 });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

async function webhooks(method: string, path: string, body: object = {}): Promise<Record<string, unknown>> {
  const response = await fetch(`${harness.url}/v1/webhooks${path}`, {
    method,
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function addHook(name: string, events: readonly string[] | null = null): Promise<string> {
  const { secret } = await webhooks('PUT', `/${name}`, { url: `${receiver.url}?${name}`, events });
  return secret as string;
}

const job = (more: object = {}) => ({ endpoint: CHAT, body: chatBody('a prompt that nobody is told'), ...more });

/** What arrived about this job or group, once something has. */
async function told(id: string): Promise<Received[]> {
  const about = () => receiver.received.filter(({ event }) => Object.values(event?.data ?? {}).includes(id));
  await until(() => about().length > 0, `something about ${id} has arrived`);
  return about();
}

test('the end of a job is told once, verified by the standardwebhooks package, without what was asked and answered', async () => {
  await receiver.set({ secret: await addHook('all') });
  const id = await caller.submit(job({ custom_id: 'mine', metadata: { note: 'nor this' } }));
  const ended = await caller.ended(id);
  const [{ event, headers }] = (await told(id)) as [Received];
  expect(event).toMatchObject({
    type: 'job.succeeded',
    data: {
      job: id,
      status: 'succeeded',
      custom_id: 'mine',
      cost_nanousd: ended.cost_nanousd,
      request_id: ended.request_id,
    },
  });
  expect(headers['webhook-id']).toMatch(/^evt_/);
  expect(JSON.stringify(event)).not.toMatch(/nobody is told|nor this|message/);
  let deliveries: unknown[] = [];
  await until(async () => {
    deliveries = (await webhooks('GET', '/all/deliveries')).data as unknown[];
    return (deliveries[0] as { status: string }).status === 'delivered';
  }, 'the answer of the receiver is noted');
  expect(deliveries).toMatchObject([{ type: 'job.succeeded' }]);
});

test('a job tells only the webhook that it names, and a name that no webhook has is refused', async () => {
  const secret = await addHook('named', ['webhook.test']);
  await addHook('other');
  await receiver.set({ secret });
  const id = await caller.submit(job({ webhook: 'named' }));
  await caller.ended(id);
  const arrived = await told(id);
  expect(arrived.map(({ path }) => path)).toEqual(['/in?named']);
  expect((await webhooks('GET', '/other/deliveries')).data).toEqual([]);
  const refused = await caller.ask('POST', '', job({ webhook: 'unknown' }));
  expect([refused.status, refused.body]).toMatchObject([400, { error: { code: 'invalid_value', param: 'webhook' } }]);
});

test('a group is told as a whole, and its jobs are not', async () => {
  await receiver.set({ secret: await addHook('groups') });
  const id = await caller.submitLines([batchLine('a'), batchLine('b')]);
  const ended = await caller.ended(id);
  const [{ event }] = (await told(id)) as [Received];
  expect(event).toMatchObject({
    type: 'group.finished',
    data: { group: id, counts: { total: 2, succeeded: 2 }, cost_nanousd: ended.cost_nanousd },
  });
  const { data } = (await webhooks('GET', '/groups/deliveries')) as { data: { type: string }[] };
  expect(data.map(({ type }) => type)).toEqual(['group.finished']);
});

test('a job that was cancelled is told too, signed with both secrets while one is being rotated', async () => {
  const old = await addHook('rotated', ['job.*']);
  await webhooks('POST', '/rotated/rotate', { grace_seconds: 3600 });
  await receiver.set({ secret: old });
  const id = await caller.submit(job({ not_before: new Date(Date.now() + 3_600_000).toISOString() }));
  await caller.ask('POST', `/${id}/cancel`);
  const [{ event, headers }] = (await told(id)) as [Received];
  expect(event).toMatchObject({ type: 'job.cancelled', data: { job: id, cost_nanousd: 0, request_id: null } });
  expect(headers['webhook-signature']!.split(' ')).toHaveLength(2);
});
