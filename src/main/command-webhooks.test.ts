import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../config/config.ts';
import { Cleanup } from '../kit/cleanup.ts';
import { ManualClock } from '../kit/clock.ts';
import type { AuditRow } from '../store/people.ts';
import type { Books } from './books.ts';
import { commandWebhooks } from './command-webhooks.ts';

let cleanup = new Cleanup();
afterEach(async () => {
  await cleanup.run();
  cleanup = new Cleanup();
});

/** What comes of a URL for a webhook, by a command with these flags; "stored" if it is allowed. */
async function judged(url: string, argvFlags: Record<string, string | boolean>): Promise<string> {
  const env = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') };
  const config = loadConfig({ argvFlags: { data: '/nowhere', ...argvFlags }, env, cwd: '/nowhere' });
  const directory = { findWebhook: () => Promise.reject(new Error('stored')) };
  const books = { store: { directory }, ids: { next: () => 1n } } as unknown as Books;
  const targets = await commandWebhooks({ config, clock: new ManualClock(), books, cleanup });
  const put = targets.put(null, { name: 'pager', url, events: null }, () => ({}) as AuditRow);
  return put.then(
    () => 'stored',
    ({ message }: Error) => message,
  );
}

const STORE = 'postgres://tollgate@db.example/tollgate';
const HERE = 'http://127.0.0.1:9000/hook';
const WHY =
  'This command does not know the mode of the servers of this database, and judges URLs as in hosted mode. ' +
  'If they serve in local mode, add it in the console or with the management API.';

test('a URL on this machine is judged by the mode of the data folder', async () => {
  expect(await judged(HERE, {})).toBe('stored');
  expect(await judged(HERE, { hosted: true })).toBe('The URL must begin with https://.');
});

test.each([[{}], [{ hosted: true }]])(
  'a URL on this machine is refused for servers of a shared database, whose mode is unknown, with flags %j',
  async (flags) => {
    expect(await judged(HERE, { store: STORE, ...flags })).toBe(`The URL must begin with https://. ${WHY}`);
    expect(await judged('https://localhost/hook', { store: STORE, ...flags })).toMatch(
      /use a public name\. This command/,
    );
  },
);

test('a URL that is refused in every mode is refused for that alone', async () => {
  expect(await judged('http://hooks.example/', { store: STORE })).toBe('The URL must begin with https://.');
});
