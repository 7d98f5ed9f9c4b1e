import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyEmptyLedger } from '../../test/ledger-template.ts';
import { audit } from '../../test/people-fixtures.ts';
import { nextTurn } from '../../test/until.ts';
import { EgressFailure, ForbiddenUrl } from '../egress/forbidden-url.ts';
import type { GuardedEgress, GuardedRequest } from '../egress/guarded-egress.ts';
import type { ResponseReceiver } from '../egress/sender.ts';
import { ManualClock } from '../kit/clock.ts';
import { IdSource } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { databaseFile } from '../store/sqlite/database.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import { type DeliveryAttempt, WebhookDeliverer } from './deliverer.ts';
import { WebhookTargets } from './targets.ts';

const START_MS = Date.UTC(2026, 10, 16, 8);
const HOUR_MS = 3_600_000;
const URL = 'https://hooks.example/in?token=1';

/** Stands for the receiver: a status, an error, or silence. */
type Answer = number | Error | 'silence';

let folder: string;
let clock: ManualClock;
let store: Store;
let ids: IdSource;
let targets: WebhookTargets;
let deliverers: WebhookDeliverer[];
let answer: (at: number) => Answer;
let posts: { readonly atMs: number; readonly request: GuardedRequest }[];
let attempts: DeliveryAttempt[];
let errors: unknown[];

const sealer = { seal: (plain: Uint8Array) => plain, open: (sealed: Uint8Array) => sealed };

const egress: Pick<GuardedEgress, 'vet' | 'recall' | 'send'> = {
  vet: async (text) => egress.recall(text),
  recall: (text) => {
    const { origin, pathname, search } = new globalThis.URL(text);
    return { origin, secure: true, host: 'hooks.example', port: 443, path: pathname + search, loopback: false };
  },
  send: (_url, request, receiver) => {
    posts.push({ atMs: clock.nowMs(), request });
    respond(receiver, answer(posts.length));
    return { pause: () => {}, resume: () => {}, cancel: () => {} } as never;
  },
};

function respond(receiver: ResponseReceiver, given: Answer): void {
  if (given === 'silence') return;
  if (given instanceof Error) receiver.failed(given);
  else {
    receiver.head(given, {});
    receiver.data([Buffer.from('an answer that nobody is shown')]);
    receiver.end();
  }
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-webhooks-'));
  clock = new ManualClock(START_MS);
  await copyEmptyLedger(folder);
  store = await openSqliteStore({ folder, clock, threads: false });
  ids = new IdSource(clock, 1);
  [posts, attempts, errors, deliverers] = [[], [], [], []];
  answer = () => 204;
  await store.createAccount({ id: 7n, name: 'seven', kind: 'prepaid', createdMs: START_MS });
  targets = new WebhookTargets({
    store: store.directory,
    sealer,
    egress,
    ids,
    clock,
    nudge: () => deliverers[0]?.nudge(),
  });
});
afterEach(async () => {
  for (const deliverer of deliverers) await deliverer.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

function start(): WebhookDeliverer {
  const deliverer = new WebhookDeliverer({
    store: store.directory,
    sealer,
    egress,
    clock,
    random: () => 0,
    onAttempt: (attempt) => attempts.push(attempt),
    onError: (error) => errors.push(error),
  });
  deliverers.push(deliverer);
  deliverer.start();
  return deliverer;
}

const putHook = (name = 'hook') => targets.put(7n, { name, url: URL, events: null }, () => audit('webhook.put'));

const sendTest = (name = 'hook') => targets.test(7n, name, () => audit('webhook.test'));

/** Nothing here waits for more than a few turns: the store works in this thread, and the receiver answers at once. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

/** Moves the clock in steps, and lets everything that was due end before the next. */
async function pass(ms: number, stepMs: number = LIMITS.webhookPollMs): Promise<void> {
  await settle();
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await settle();
  }
}

async function hook(): Promise<Webhook> {
  return (await store.directory.findWebhook(7n, 'hook'))!;
}

async function delivery(): Promise<Delivery> {
  const [newest] = await targets.deliveries(7n, 'hook', { before: null, limit: 1 });
  return newest!;
}

describe('a delivery', () => {
  test('is posted once, signed, as JSON, and then nothing waits', async () => {
    start();
    const { secret } = await putHook();
    const event = await sendTest();
    await pass(10_000);
    expect(posts).toHaveLength(1);
    const { headers, body } = posts[0]!.request;
    const verified = new StandardWebhook(secret!.reveal());
    // The package refuses old timestamps by the real clock, so the age is checked here and the signature there.
    expect(Number(headers!['webhook-timestamp'])).toBe(posts[0]!.atMs / 1000);
    expect(signatureBy(verified, headers!, body!.toString())).toBe(headers!['webhook-signature']);
    expect(JSON.parse(body!.toString())).toMatchObject({
      type: 'webhook.test',
      timestamp: '2026-11-16T08:00:00.000Z',
      data: { name: 'hook' },
    });
    expect(await delivery()).toMatchObject({
      eventId: event.eventId,
      state: 'delivered',
      httpStatus: 204,
      attempts: 1,
    });
    expect(attempts).toMatchObject([{ outcome: { state: 'delivered' } }]);
  });

  test('reaches a receiver that failed for an hour, after ever longer pauses', async () => {
    start();
    await putHook();
    answer = () => (clock.nowMs() < START_MS + HOUR_MS ? 503 : 200);
    await sendTest();
    await pass(60_000);
    expect(await hook()).toMatchObject({ failures: 3, failingMs: null });
    expect(await delivery()).toMatchObject({ state: 'pending', attempts: 3, httpStatus: 503 });
    await pass(2 * HOUR_MS, 10_000);
    const pausesS = posts.slice(1).map(({ atMs }, at) => Math.round((atMs - posts[at]!.atMs) / 10_000) * 10);
    expect(pausesS.toSorted((a, b) => a - b)).toEqual(pausesS);
    expect(pausesS.length).toBeGreaterThan(5);
    expect(pausesS.length).toBeLessThan(12);
    expect(await delivery()).toMatchObject({ state: 'delivered', httpStatus: 200, error: null });
    expect(await hook()).toMatchObject({ failures: 0, failingMs: null });
  });

  test('is given up after a day, and the webhook is shown as failing until another one succeeds', async () => {
    start();
    await putHook();
    answer = () => new EgressFailure('unreachable', 'The host cannot be reached.');
    await sendTest();
    await pass(26 * HOUR_MS, 60_000);
    expect(await delivery()).toMatchObject({ state: 'failed', httpStatus: null, error: 'The host cannot be reached.' });
    expect((await hook()).failingMs).toBeGreaterThan(START_MS + 12 * HOUR_MS);
    expect((await hook()).failingMs).toBeLessThanOrEqual(START_MS + 24 * HOUR_MS);
    const tried = posts.length;
    expect(tried).toBeLessThan(20);
    await pass(HOUR_MS, 60_000);
    expect(posts).toHaveLength(tried);
    answer = () => 200;
    await sendTest();
    await pass(HOUR_MS, 60_000);
    expect(await hook()).toMatchObject({ failures: 0, failingMs: null });
  });

  test.each<[string, Answer, object]>([
    [
      'a redirect',
      new EgressFailure('redirect', 'The host answered with a redirect (302), which is not followed.'),
      {},
    ],
    ['a forbidden address', new ForbiddenUrl('address', 'The URL leads to a loopback address.'), {}],
    ['a status of 404', 404, { httpStatus: 404 }],
    ['a connection that breaks', new Error('secret of the host'), { error: 'The receiver broke the connection.' }],
  ])('fails for %s, with a reason that does not quote the receiver', async (_, given, expected) => {
    start();
    await putHook();
    answer = () => given;
    await sendTest();
    await pass(4_000);
    const reason = given instanceof EgressFailure || given instanceof ForbiddenUrl ? { error: given.message } : {};
    expect(await delivery()).toMatchObject({ state: 'pending', attempts: 1, ...reason, ...expected });
    expect(JSON.stringify(await delivery(), (_key, value) => String(value))).not.toContain('nobody is shown');
  });

  test('fails if the receiver does not answer in time', async () => {
    start();
    await putHook();
    answer = () => 'silence';
    await sendTest();
    await pass(LIMITS.webhookAnswerMs + 4_000);
    expect(await delivery()).toMatchObject({ attempts: 1, error: 'The receiver did not answer within 15 s.' });
  });

  test('is not posted if the gateway stops between its claim and the post', async () => {
    const first = start();
    await putHook();
    const secrets = store.directory.webhookSecrets.bind(store.directory);
    let stopped: Promise<void> | null = null;
    store.directory.webhookSecrets = (...args) => {
      stopped = first.stop();
      return secrets(...args);
    };
    await sendTest();
    await pass(4_000);
    await stopped;
    expect([posts, await delivery()]).toMatchObject([[], { state: 'pending', attempts: 0 }]);
  });

  test('is sent at once even if it is stored while another one is looked for', async () => {
    await putHook();
    const due = store.directory.dueWebhooks.bind(store.directory);
    let isFirst = true;
    store.directory.dueWebhooks = async (...args) => {
      const found = await due(...args);
      if (isFirst) {
        isFirst = false;
        await sendTest();
        clock.advance(1);
      }
      return found;
    };
    start();
    await pass(LIMITS.webhookPollMs);
    clock.advance(1);
    await settle();
    expect(posts).toHaveLength(1);
  });

  test('is not counted as failed if the gateway stops meanwhile, and is sent again later', async () => {
    const first = start();
    await putHook();
    answer = () => 'silence';
    await sendTest();
    await pass(4_000);
    await first.stop();
    expect(await delivery()).toMatchObject({ state: 'pending', attempts: 0 });
    answer = () => 200;
    start();
    await pass(LIMITS.webhookLeaseMs + 4_000);
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 1 });
  });
});

describe('several deliveries', () => {
  test('to one webhook keep their order and a distance in time', async () => {
    start();
    await putHook();
    const sent = [];
    for (let count = 0; count < 5; count++) sent.push((await sendTest()).eventId);
    await pass(3_000, 50);
    expect(attempts.map(({ delivery }) => delivery.eventId)).toEqual(sent);
    const gaps = posts.slice(1).map(({ atMs }, at) => atMs - posts[at]!.atMs);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(LIMITS.webhookIntervalMs);
  });

  test('are not held up by one that the receiver refuses', async () => {
    start();
    await putHook();
    answer = (at) => (at === 1 ? 400 : 200);
    await sendTest();
    const second = await sendTest();
    await pass(10_000, 500);
    expect(await store.directory.findDelivery(second.webhookId, second.eventId)).toMatchObject({ state: 'delivered' });
  });

  test('are sent by one process each when several look for them', async () => {
    for (let count = 0; count < 3; count++) start();
    for (const name of ['a', 'b', 'c', 'd']) {
      await putHook(name);
      await sendTest(name);
    }
    await pass(20_000);
    expect(posts).toHaveLength(4);
  });

  test('to one origin keep a distance in time, whichever webhooks they are for', async () => {
    start();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) {
      await putHook(name);
      await sendTest(name);
    }
    await pass(4_000, 10);
    const gaps = posts.slice(1).map(({ atMs }, at) => atMs - posts[at]!.atMs);
    expect(gaps).toHaveLength(names.length - 1);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(LIMITS.webhookOriginIntervalMs);
  });

  test('to a slow origin leave room for others, and are sent when it has answered', async () => {
    start();
    answer = () => 'silence';
    const slow = 2 * LIMITS.webhookOriginAtOnce;
    for (let at = 0; at < slow; at++) {
      await putHook(`slow-${at}`);
      await sendTest(`slow-${at}`);
    }
    await targets.put(7n, { name: 'other', url: 'https://other.example/', events: null }, () => audit('webhook.put'));
    await sendTest('other');
    await pass(6_000, 100);
    expect(posts).toHaveLength(LIMITS.webhookOriginAtOnce + 1);
    await pass(2 * LIMITS.webhookAnswerMs, 500);
    expect(posts.length).toBeGreaterThan(slow);
  });

  test('beyond the most that may wait are dropped, counted and refused', async () => {
    await putHook();
    fill((await hook()).id, LIMITS.webhookPendingMax - 1);
    await sendTest();
    await expect(sendTest()).rejects.toThrow('no more are stored');
    expect(await hook()).toMatchObject({ dropped: 1 });
    expect(await targets.find(7n, 'hook')).toMatchObject({ pending: LIMITS.webhookPendingMax });
  });
});

test('a secret that cannot be decrypted sends nothing, and says so', async () => {
  const blind = new WebhookDeliverer({
    store: store.directory,
    sealer: { ...sealer, open: () => null },
    egress,
    clock,
    random: () => 0,
    onAttempt: (attempt) => attempts.push(attempt),
    onError: (error) => errors.push(error),
  });
  deliverers.push(blind);
  blind.start();
  await putHook();
  await sendTest();
  await pass(4_000);
  expect(posts).toEqual([]);
  expect((await delivery()).error).toContain('can no longer be decrypted');
  expect(errors).toEqual([]);
});

test('a store that cannot be read is asked again', async () => {
  const broken = { ...store.directory, dueWebhooks: () => Promise.reject(new Error('away')) };
  const deliverer = new WebhookDeliverer({
    store: broken,
    sealer,
    egress,
    clock,
    random: () => 0,
    onAttempt: () => {},
    onError: (error) => errors.push(error),
  });
  deliverers.push(deliverer);
  deliverer.start();
  await pass(6_000);
  expect(errors).toHaveLength(3);
});

/** The signature that the reference package makes for the same id, time and body. */
function signatureBy(webhook: StandardWebhook, headers: Record<string, string>, body: string): string {
  return webhook.sign(headers['webhook-id']!, new Date(Number(headers['webhook-timestamp']) * 1000), body);
}

/** Deliveries that wait, written to the file at once. */
function fill(webhookId: bigint, count: number): void {
  const database = new DatabaseSync(databaseFile(folder));
  database
    .prepare(
      `WITH RECURSIVE counted (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counted WHERE n < ?)
       INSERT INTO webhook_delivery (webhook_id, event_id, type, data, created_ms, state, attempts, due_ms)
       SELECT ?, n, 'webhook.test', '{}', 0, 0, 0, 0 FROM counted`,
    )
    .run(BigInt(count), webhookId);
  database.close();
}
