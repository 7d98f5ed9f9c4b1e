import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { readStore } from '../src/config/store.ts';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { formatId } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { commandLine } from '../src/operator/actor.ts';
import { type OperatorServices, runVerb } from '../src/operator/operator.ts';
import { EventReader } from './event-reader.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { enrol, openSession, PUBLIC_URL } from './people.ts';
import { freshSchema } from './postgres.ts';
import { until } from './until.ts';

const CALL = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };

/** Timers of one second fire almost at once. */
const quickClock: Clock = {
  ...systemClock,
  after: (ms, run, options) => systemClock.after(ms === LIMITS.receiptFeedPollMs ? 10 : ms, run, options),
};

let harness: Harness;
let shared: MintedKey;
let elsewhere: MintedKey;
let own: MintedKey;
let account: string;
const cookies = new Map<string, string>();

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL }, clock: quickClock });
  shared = await harness.mint();
  elsewhere = await harness.mint();
  account = formatId(ACCOUNT_PREFIX, shared.accountId);
  for (const role of ['viewer', 'member', 'owner'] as const) await addPerson(role, role);
  cookies.set(
    'operator',
    await openSession(
      harness.running.books,
      await enrol(harness.running.books, 'root@example.com', { isOperator: true }),
    ),
  );
});
afterAll(() => harness.stop());

async function addPerson(name: string, role: 'viewer' | 'member' | 'owner'): Promise<bigint> {
  const { books } = harness.running;
  const id = await enrol(books, `${name}@example.com`, { roles: [[shared.accountId, role]] });
  cookies.set(name, await openSession(books, id));
  if (name === 'member') own = await harness.mintFor(shared.accountId, { personId: id });
  return id;
}

function services(): OperatorServices {
  const { books } = harness.running;
  return { ...books, clock: systemClock, actor: commandLine() } as unknown as OperatorServices;
}

function follow(
  who: string,
  query = `?account=${account}`,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const cookie = cookies.get(who)!;
  const credentials: Record<string, string> = who === 'key' ? {} : { cookie, origin: PUBLIC_URL };
  return EventReader.open(`${harness.url}/manage/v1/receipts/feed${query}`, { ...credentials, ...headers });
}

async function callWith({ secret }: MintedKey, at = harness): Promise<string> {
  const answer = await at.post(CALL, { authorization: `Bearer ${secret}` });
  await answer.text();
  return answer.headers.get('x-gateway-request-id')!;
}

describe('a feed of receipts', () => {
  test('shows each reader what they may see, as the receipt itself is shown', async () => {
    const readers = {
      operator: await (await follow('operator', '')).ready(),
      one: await (await follow('operator', `?key=${formatId(KEY_PREFIX, elsewhere.keyId)}`)).ready(),
      viewer: await (await follow('viewer')).ready(),
      member: await (await follow('member')).ready(),
    };
    const [a, b, c] = [await callWith(shared), await callWith(own), await callWith(elsewhere)];
    await until(() => readers.operator.receipts.length === 3, 'the operator has seen three');
    expect(readers.operator.receipts).toEqual([a, b, c]);
    expect(readers.one.receipts).toEqual([c]);
    expect(readers.viewer.receipts).toEqual([a, b]);
    expect(readers.member.receipts).toEqual([b]);
    for (const who of ['operator', 'viewer'] as const) {
      const headers = { cookie: cookies.get(who)!, origin: PUBLIC_URL };
      const shown = await fetch(`${harness.url}/manage/v1/receipts/${a}`, { headers });
      expect(readers[who].events.find(({ data }) => data.id === a)!.data).toEqual(await shown.json());
    }
    for (const reader of Object.values(readers)) reader.leave();
  });

  test('goes on after a reader comes back, and says if something may be missing', async () => {
    const reader = await (await follow('operator', '')).ready();
    const cursor = reader.events[0]!.id!;
    const first = await callWith(shared);
    await until(() => reader.receipts.length === 1, 'one has come');
    reader.leave();
    const back = await (await follow('operator', '', { 'last-event-id': cursor })).ready();
    await until(() => back.receipts.length === 1, 'it comes again');
    expect(back.receipts).toEqual([first]);
    const lost = await (await follow('operator', '?after=elsewhere.7')).ready();
    await until(() => lost.events.length === 2, 'the gap has come');
    expect(lost.events.map(({ event }) => event)).toEqual(['ready', 'gap']);
    for (const each of [back, lost]) each.leave();
  });

  test('ends with the session, the person, the role or the key that opened it', async () => {
    const { books } = harness.running;
    const leaving = await addPerson('leaving', 'owner');
    await addPerson('disabled', 'owner');
    await addPerson('demoted', 'owner');
    const terms = { account, role: 'viewer', expires_at: Math.floor(Date.now() / 1000) + 3600 };
    const key = (await runVerb(services(), 'managementkeys.mint', terms)) as { id: string; secret: string };
    const ends = {
      leaving: () => books.store.directory.endSessionsOf(leaving, audit()),
      disabled: () => runVerb(services(), 'people.disable', { person: 'disabled@example.com' }),
      demoted: () => runVerb(services(), 'members.put', { account, person: 'demoted@example.com', role: 'member' }),
      key: () => runVerb(services(), 'managementkeys.revoke', { management_key: key.id }),
    };
    for (const [who, end] of Object.entries(ends)) {
      const bearer = who === 'key' ? { authorization: `Bearer ${key.secret}` } : {};
      const reader = await (await follow(who, `?account=${account}`, bearer as Record<string, string>)).ready();
      expect([who, reader.status, reader.hasEnded]).toEqual([who, 200, false]);
      await end();
      await until(() => reader.hasEnded, `the feed of ${who} has ended`);
    }
  });

  test('is refused if one person has too many of them', async () => {
    const open = [];
    for (let at = 0; at < LIMITS.receiptFeedsPerCallerMax; at++) open.push(await (await follow('viewer')).ready());
    expect((await follow('viewer')).status).toBe(429);
    const other = await (await follow('owner')).ready();
    expect(other.status).toBe(200);
    open[0]!.leave();
    await until(async () => {
      const again = await follow('viewer');
      again.leave();
      return again.status === 200;
    }, 'there is room again');
    for (const reader of [...open, other]) reader.leave();
  });

  test('is refused if the people of one account have most of them, so that others still get theirs', async () => {
    const { books } = harness.running;
    const stranger = await enrol(books, 'stranger@example.com', { roles: [[elsewhere.accountId, 'owner']] });
    cookies.set('stranger', await openSession(books, stranger));
    const people = Math.ceil(LIMITS.receiptFeedsMax / LIMITS.receiptFeedsPerCallerMax);
    const open: EventReader[] = [];
    let refused = 0;
    for (let at = 0; at < people; at++) {
      await addPerson(`crowd-${at}`, 'viewer');
      for (let feed = 0; feed < LIMITS.receiptFeedsPerCallerMax; feed++) {
        const reader = await follow(`crowd-${at}`);
        if (reader.status === 200) open.push(reader);
        else refused++;
      }
    }
    const others = [await follow('stranger', `?account=${formatId(ACCOUNT_PREFIX, elsewhere.accountId)}`)];
    others.push(await follow('operator', ''));
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    expect(refused).toBeGreaterThan(0);
    for (const reader of [...open, ...others]) reader.leave();
  });

  test('needs an account that the reader has a role in, and a cursor of a known form', async () => {
    expect((await follow('viewer', '')).status).toBe(403);
    expect((await follow('viewer', `?account=${formatId(ACCOUNT_PREFIX, elsewhere.accountId)}`)).status).toBe(404);
    expect((await follow('member', `?account=${account}&key=${formatId(KEY_PREFIX, shared.keyId)}`)).status).toBe(404);
    expect((await follow('operator', '?colour=red')).status).toBe(400);
    expect((await follow('owner', `?account=${account}&person=member@example.com`)).status).toBe(400);
    expect((await follow('operator', `?after=${'x'.repeat(1_000)}`)).status).toBe(400);
  });
});

function audit() {
  const { ids } = harness.running.books;
  const rest = { subject: '', accountId: null, before: null, after: null, address: null };
  return {
    id: ids.next(),
    atMs: 1,
    actorKind: 'command_line',
    actorId: null,
    actorName: '',
    action: 'test',
    ...rest,
  } as const;
}

test('a server that stops ends its feeds at once', async () => {
  const stopping = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL }, clock: quickClock });
  const person = await enrol(stopping.running.books, 'root@example.com', { isOperator: true });
  const headers = { cookie: await openSession(stopping.running.books, person), origin: PUBLIC_URL };
  const reader = await (await EventReader.open(`${stopping.url}/manage/v1/receipts/feed`, headers)).ready();
  await stopping.stop();
  await until(() => reader.hasEnded, 'the feed has ended');
});

test('a feed of one replica shows the calls of the other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-feed-'));
  const config = { store: readStore(await freshSchema()), publicUrl: PUBLIC_URL };
  const replicas = [
    await startHarness({ hosted: true, folder, config, clock: quickClock }),
    await startHarness({ hosted: true, folder, config, clock: quickClock }),
  ] as const;
  const { books } = replicas[0].running;
  const key = await replicas[0].mint();
  const headers = {
    cookie: await openSession(books, await enrol(books, 'root@example.com', { isOperator: true })),
    origin: PUBLIC_URL,
  };
  const reader = await (await EventReader.open(`${replicas[0].url}/manage/v1/receipts/feed`, headers)).ready();
  const ids = [await callWith(key, replicas[1]), await callWith(key, replicas[0]), await callWith(key, replicas[1])];
  await until(() => reader.receipts.length === 3, 'all three have come');
  expect(new Set(reader.receipts)).toEqual(new Set(ids));
  reader.leave();
  await Promise.all(replicas.map((replica) => replica.stop()));
  rmSync(folder, { recursive: true });
});
