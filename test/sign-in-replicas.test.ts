import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../src/accounts/passwords.ts';
import { KEY_PREFIX } from '../src/canonical/id-prefixes.ts';
import { readStore } from '../src/config/store.ts';
import { formatId } from '../src/kit/ids.ts';
import { type Harness, startHarness } from './harness.ts';
import { cookieOf, enrol, openSession, PUBLIC_URL } from './people.ts';
import { freshSchema } from './postgres.ts';
import { until } from './until.ts';

const PASSWORD = 'correct horse battery';
let folder: string;
let one: Harness;
let two: Harness;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-sign-in-'));
  const config = { store: readStore(await freshSchema()), publicUrl: PUBLIC_URL };
  one = await startHarness({ hosted: true, folder, config });
  two = await startHarness({ hosted: true, folder, config });
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  rmSync(folder, { recursive: true });
});

function call(harness: Harness, method: string, path: string, cookie = '', body: object = {}): Promise<Response> {
  return fetch(`${harness.url}/manage/v1${path}`, {
    method,
    headers: { cookie, origin: PUBLIC_URL, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });
}

test('a session that one replica made works at the other, and ends at both with the person', async () => {
  const { books } = one.running;
  await enrol(books, 'ada@example.com', { isOperator: true, passwordHash: await hashPassword(PASSWORD) });
  const operator = await openSession(books, await enrol(books, 'root@example.com', { isOperator: true }));
  const signedIn = await call(one, 'POST', '/sign-in', '', { email: 'ada@example.com', password: PASSWORD });
  const cookie = cookieOf(signedIn);
  const statuses = async () => [
    (await call(one, 'GET', '/people', cookie)).status,
    (await call(two, 'GET', '/people', cookie)).status,
  ];
  expect(await statuses()).toEqual([200, 200]);
  expect((await call(two, 'POST', '/people/ada@example.com/disable', operator)).status).toBe(200);
  expect(await statuses()).toEqual([401, 401]);
  const again = await call(one, 'POST', '/sign-in', '', { email: 'ada@example.com', password: PASSWORD });
  expect(again.status).toBe(401);
});

test('a session that was signed out at one replica has ended at the other', async () => {
  const { books } = two.running;
  const cookie = await openSession(books, await enrol(books, 'bob@example.com'));
  expect((await call(two, 'POST', '/sign-out', cookie)).status).toBe(200);
  expect((await call(one, 'GET', '/me', cookie)).status).toBe(401);
});

test('a key that was rotated at one replica works with both secrets at the other, and without grace with one', async () => {
  const { secret: first, keyId } = await one.mint();
  const models = async (secret: string): Promise<number> =>
    (await two.get('/v1/models', { authorization: `Bearer ${secret}` })).status;
  const operator = await openSession(
    one.running.books,
    await enrol(one.running.books, 'op@example.com', { isOperator: true }),
  );
  const rotate = async (grace_seconds: number): Promise<string> => {
    const path = `/keys/${formatId(KEY_PREFIX, keyId)}/rotate`;
    const rotated = await call(one, 'POST', path, operator, { grace_seconds });
    return ((await rotated.json()) as { secret: string }).secret;
  };
  expect(await models(first)).toBe(200);
  const second = await rotate(3600);
  expect([await models(second), await models(first)]).toEqual([200, 200]);
  const third = await rotate(0);
  expect(await models(third)).toBe(200);
  await until(async () => (await models(second)) === 401, 'the replaced secret has ended at the other replica');
  expect([await models(first), await models(third)]).toEqual([401, 200]);
});
