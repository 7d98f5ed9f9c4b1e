import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MANAGE_ROUTES } from '../src/manage/routes.ts';
import { SIGN_IN_ROUTES } from '../src/manage/sign-in/routes.ts';
import { type Harness, startHarness } from './harness.ts';
import { enrol, openSession } from './people.ts';

describe('local mode', () => {
  let local: Harness;
  let other: string;
  beforeAll(async () => {
    local = await startHarness();
    const { port } = new URL(local.url);
    other = `http://127.0.0.1:${Number(port) - 1}`;
  });
  afterAll(() => local.stop());

  const ask = (headers: Record<string, string>, path = '/me', method = 'GET') =>
    fetch(`${local.url}/manage/v1${path}`, { method, headers });

  test('is managed with the token of the data folder, which only its owner can read', async () => {
    const file = join(local.folder, 'console.token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const token = readFileSync(file, 'utf8').trim();
    const me = await ask({ authorization: `Bearer ${token}` });
    expect(await me.json()).toMatchObject({ operator: true, kind: 'command_line' });
    const own = new URL(local.url).origin;
    expect((await ask({ authorization: `Bearer ${token}`, origin: own })).status).toBe(200);
    expect((await ask({ authorization: `Bearer ${token}`, origin: other })).status).toBe(403);
  });

  test.each([...MANAGE_ROUTES, ...SIGN_IN_ROUTES])('$method $path is closed without it', async ({ method, path }) => {
    const person = await enrol(local.running.books, `${method}${path}@example.com`, { isOperator: true });
    const cookie = await openSession(local.running.books, person);
    const strangers: Record<string, string>[] = [
      {},
      { origin: other },
      { authorization: 'Bearer guess' },
      { cookie, origin: new URL(local.url).origin },
    ];
    for (const headers of strangers) {
      const { status } = await ask({ 'content-type': 'application/json', ...headers }, path, method);
      expect([headers, status]).toEqual([headers, 401]);
    }
  });

  test('gives no link with an invitation, because nobody can sign in here', async () => {
    const token = readFileSync(join(local.folder, 'console.token'), 'utf8').trim();
    const invited = await fetch(`${local.url}/manage/v1/invitations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.com' }),
    });
    expect([invited.status, await invited.json()]).toMatchObject([201, { link: null }]);
  });

  test('needs no key for calls', async () => {
    expect((await fetch(`${local.url}/v1/models`)).status).toBe(200);
  });
});
