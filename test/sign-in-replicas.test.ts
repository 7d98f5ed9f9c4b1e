import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../src/accounts/passwords.ts';
import { readStore } from '../src/config/store.ts';
import { type Harness, startHarness } from './harness.ts';
import { cookieOf, enrol, openSession, PUBLIC_URL } from './people.ts';
import { freshSchema } from './postgres.ts';

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
