import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callServer } from '../src/cli/operator-client.ts';
import { sealedUnder } from '../src/custody/seal.ts';
import { systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { controlSocketPath } from '../src/main/books.ts';
import { databaseFile } from '../src/store/sqlite/database.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { pollOften } from './short-polls.ts';
import { until } from './until.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

let harness: Harness;
let receiver: Receiver;
let key: MintedKey;

beforeAll(pollOften);
beforeAll(async () => {
  [harness, receiver] = await Promise.all([startHarness(), startReceiver()]);
});
beforeEach(async () => {
  key = await harness.mint({ permissions: ['webhooks'] });
  await receiver.set({ status: 200 });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { secret?: string; data?: Record<string, unknown>[] };
}

async function ask(method: string, path: string, body?: object, secret = key.secret): Promise<Answer> {
  const response = await fetch(`${harness.url}/v1/webhooks${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function manage(method: string, path: string, body?: object): Promise<Answer> {
  const token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
  const response = await fetch(`${harness.url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The newest delivery, once it was tried. */
async function tried(name = 'hook'): Promise<Record<string, unknown>> {
  let newest: Record<string, unknown> = {};
  await until(async () => {
    newest = (await ask('GET', `/${name}/deliveries`)).body.data![0]!;
    return (newest.attempts as number) > 0;
  }, 'the delivery was tried');
  return newest;
}

const put = (more: object = {}, name = 'hook') => ask('PUT', `/${name}`, { url: receiver.url, ...more });

describe("an account's webhook", () => {
  test('gets a test event that the standardwebhooks package verifies in another process', async () => {
    const made = await put();
    expect([made.status, made.body.status, made.body.events]).toEqual([201, 'active', null]);
    await receiver.set({ secret: made.body.secret! });
    const sent = await ask('POST', '/hook/test');
    expect([sent.status, sent.body]).toMatchObject([202, { type: 'webhook.test', status: 'pending', attempts: 0 }]);
    expect(await tried()).toMatchObject({ id: sent.body.id, status: 'delivered', http_status: 200, error: null });
    const { event, headers, path } = receiver.received.at(-1)!;
    expect(event).toMatchObject({ type: 'webhook.test', data: { name: 'hook' } });
    expect([path, headers['webhook-id'], headers['content-type']]).toEqual(['/in', sent.body.id, 'application/json']);
    expect((await ask('GET', '/hook')).body).toMatchObject({ status: 'active', pending: 0 });
  });

  test('shows its secret once, and is changed without a new one', async () => {
    const { body: made } = await put();
    const changed = await put({ events: ['webhook.test'] });
    expect([changed.status, changed.body.secret, changed.body.events]).toEqual([200, null, ['webhook.test']]);
    const shown = JSON.stringify([(await ask('GET', '')).body, (await ask('GET', '/hook')).body]);
    expect(shown).not.toContain('whsec_');
    const account = formatId('acct_', key.accountId);
    const audit = await manage('GET', `/audit?account=${account}`);
    expect(audit.body.data).toMatchObject([
      {
        action: 'webhook.put',
        actor: { kind: 'gateway_key', id: formatId('key_', key.keyId) },
        address: '127.0.0.1',
        before: { origin: new URL(receiver.url).origin, events: null },
        after: { origin: new URL(receiver.url).origin, events: ['webhook.test'] },
      },
      { action: 'webhook.put', before: null },
    ]);
    const everything = JSON.stringify([audit.body, harness.log]) + readFileSync(databaseFile(harness.folder), 'latin1');
    expect(everything).not.toContain(made.secret!.slice(6));
  });

  test('signs with both secrets after a rotation, and with the new one alone without grace', async () => {
    const { body: made } = await put();
    const rotated = await ask('POST', '/hook/rotate', { grace_seconds: 3600 });
    expect(rotated.body.old_secret_expires_at).toBeGreaterThan(Date.now() / 1000 + 3500);
    for (const secret of [made.secret!, rotated.body.secret!]) {
      await receiver.set({ secret });
      await ask('POST', '/hook/test');
      await tried();
      expect(receiver.received.at(-1)!.event).toMatchObject({ type: 'webhook.test' });
    }
    const alone = await ask('POST', '/hook/rotate', { grace_seconds: 0 });
    expect(alone.body.old_secret_expires_at).toBeNull();
    await ask('POST', '/hook/test');
    await tried();
    expect(receiver.received.at(-1)!.refused).toContain('No matching signature');
  });

  test('is signed with the same secret after the master key was changed', async () => {
    const { body: made } = await put();
    await receiver.set({ secret: made.secret! });
    const socketPath = controlSocketPath(harness.folder);
    const server = { socketPath, name: 'The server', clock: systemClock };
    const rotate = async (input: object) =>
      JSON.parse(await callServer(server, 'seal.rotate', input)) as { key: string; next: string | null };
    const rotated = await rotate({ new_key: true });
    expect(rotated).toMatchObject({ unreadable: 0, changed_meanwhile: 0 });
    // A page names the next one, and an empty page is the last. Other sealed rows may have pages of their own.
    let page: Awaited<ReturnType<typeof rotate>> & { examined?: number } = rotated;
    for (let pages = 0; pages < 5 && page.next !== null; pages++) page = await rotate({ after: page.next });
    expect(page).toMatchObject({ examined: 0, next: null });
    const rows = await harness.running.books.store.directory.webhookSecretsAfter(null, 1000);
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map(({ sealed }) => sealedUnder(sealed)))).toEqual(new Set([rotated.key]));
    await ask('POST', '/hook/test');
    await tried();
    expect(receiver.received.at(-1)!.event).toMatchObject({ type: 'webhook.test' });
    const status = JSON.parse(await callServer(server, 'seal.status', {})) as Record<string, unknown>;
    // The key that signs receipts is sealed too.
    expect(status).toMatchObject({ rows: rows.length + 1, unreadable: 0 });
  });

  test('follows no redirect, and shows nothing of what the receiver answered', async () => {
    await put();
    await receiver.set({ status: 302, location: `${receiver.url}/elsewhere` });
    await ask('POST', '/hook/test');
    const delivery = await tried();
    expect(delivery).toMatchObject({ status: 'pending', attempts: 1 });
    expect(delivery.error).toContain('redirect (302)');
    expect(receiver.received.at(-1)!.path).toBe('/in');
    await receiver.set({ status: 500 });
    await put({}, 'other');
    await ask('POST', '/other/test');
    expect(await tried('other')).toMatchObject({ http_status: 500, status: 'pending' });
    const shown = JSON.stringify((await ask('GET', '/other/deliveries')).body);
    expect(shown + JSON.stringify(harness.log)).not.toContain('shown to nobody');
    expect((await ask('GET', '/other')).body).toMatchObject({ status: 'retrying', pending: 1 });
  });

  test('is removed with everything that waits', async () => {
    await put();
    expect((await ask('DELETE', '/hook')).body).toEqual({
      object: 'webhook',
      name: 'hook',
      status: 'removed',
      deleted: true,
    });
    expect((await ask('DELETE', '/hook')).status).toBe(404);
    const removals = await manage('GET', `/audit?account=${formatId('acct_', key.accountId)}&action=webhook.remove`);
    expect(removals.body.data).toMatchObject([{ before: { origin: new URL(receiver.url).origin }, after: null }]);
  });

  test.each([
    ['a name with a slash', '/a/b', {}, 'name'],
    ['a name that is too long', `/${'a'.repeat(LIMITS.webhookNameCharsMax + 1)}`, {}, 'name'],
    ['an address of a private network', '/a', { url: 'https://10.1.2.3/' }, 'url'],
    ['a URL without encryption', '/a', { url: 'http://example.com/' }, 'url'],
    ['a URL with a password', '/a', { url: 'https://u:p@example.com/' }, 'url'],
    ['the gateway itself', '/a', { url: 'SELF' }, 'url'],
    ['an unknown event', '/a', { events: ['nothing.happened'] }, 'events'],
    ['no events', '/a', { events: [] }, 'events'],
    ['a URL that is a number', '/a', { url: 7 }, 'url'],
  ])('is refused with %s', async (_, path, more: object, param) => {
    const body = { url: receiver.url, ...more };
    if (body.url === 'SELF') body.url = `${harness.url}/in`;
    const refused = await ask('PUT', path, body);
    expect([refused.status, refused.body.error]).toMatchObject([400, { code: 'invalid_value', param }]);
  });

  test('is refused with unknown fields, and with a body that is not an object', async () => {
    const refused = await ask('PUT', '/a', { url: receiver.url, secret: 'mine' });
    expect(refused.body.error).toMatchObject({ code: 'unsupported_parameter', param: 'secret' });
    const text = await ask('PUT', '/a', { url: receiver.url, ['a secret '.repeat(20)]: 1 });
    expect(text.body.error).toMatchObject({ code: 'unsupported_parameter', param: null });
    expect(JSON.stringify(text.body)).not.toContain('a secret');
    const missing = await ask('PUT', '/a', {});
    expect(missing.body.error).toMatchObject({ code: 'missing_required_parameter', param: 'url' });
    expect((await ask('PUT', '/a', [])).body.error).toMatchObject({ code: 'invalid_request_body', param: null });
    expect((await ask('GET', '/hook/deliveries?limit=0')).body.error).toMatchObject({ param: 'limit' });
    expect((await ask('GET', '/hook/deliveries?after=x')).body.error).toMatchObject({ param: 'after' });
    expect((await ask('GET', '/hook/deliveries?limits=1')).body.error).toMatchObject({ param: 'limits' });
  });

  test('is refused beyond the most of one account', async () => {
    for (let made = 0; made < LIMITS.webhooksPerAccountMax; made++)
      expect((await put({}, `h${made}`)).status).toBe(201);
    const refused = await put({}, 'more');
    expect([refused.status, JSON.stringify(refused.body.error)]).toEqual([400, expect.stringContaining('Remove one')]);
  });

  test('is unknown to other accounts', async () => {
    await put();
    const stranger = await harness.mint({ permissions: ['webhooks'] });
    for (const [method, path] of [
      ['GET', '/hook'],
      ['POST', '/hook/test'],
      ['DELETE', '/hook'],
    ] as const)
      expect((await ask(method, path, undefined, stranger.secret)).status).toBe(404);
    expect((await ask('GET', '', undefined, stranger.secret)).body.data).toEqual([]);
  });
});

describe("the operator's webhook", () => {
  test('is managed beside those of accounts, and gets a test event', async () => {
    const made = await manage('PUT', '/webhooks/pager', { url: receiver.url });
    expect([made.status, made.body.account]).toEqual([200, null]);
    await receiver.set({ secret: made.body.secret! });
    const sent = await manage('POST', '/webhooks/pager/test', {});
    await until(() => receiver.received.some(({ headers }) => headers['webhook-id'] === sent.body.id), 'it arrived');
    expect(receiver.received.at(-1)!.event).toMatchObject({ type: 'webhook.test', data: { name: 'pager' } });
    expect((await ask('GET', '/pager')).status).toBe(404);
    expect((await manage('DELETE', '/webhooks/pager')).body.status).toBe('removed');
  });
});

describe('in hosted mode', () => {
  test('a name that leads to a forbidden address at the time of delivery is not connected to', async () => {
    let addresses = ['203.0.114.9'];
    let dials = 0;
    const dial = (): never => {
      dials++;
      throw new Error('nobody is called here');
    };
    const world = { resolve: async () => addresses, dial };
    const hosted = await startHarness({ hosted: true, world });
    const owner = await hosted.mint({ permissions: ['webhooks'] });
    const headers = { authorization: `Bearer ${owner.secret}`, 'content-type': 'application/json' };
    const url = `${hosted.url}/v1/webhooks/hook`;
    const body = JSON.stringify({ url: 'https://hooks.example.com/in' });
    expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(201);
    addresses = ['169.254.169.254'];
    await fetch(`${url}/test`, { method: 'POST', headers });
    let delivery: Record<string, unknown> = {};
    await until(async () => {
      const { data } = (await (await fetch(`${url}/deliveries`, { headers })).json()) as { data: object[] };
      delivery = data[0] as Record<string, unknown>;
      return (delivery.attempts as number) > 0;
    }, 'the delivery was tried');
    expect([delivery.status, delivery.http_status, dials]).toEqual(['pending', null, 0]);
    expect(delivery.error).toContain('host name cannot be used');
    expect(delivery.error).not.toContain('169.254');
    expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(400);
    await hosted.stop();
  });
});
