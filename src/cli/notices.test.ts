import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../kit/clock.ts';
import { compose } from '../main/compose.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { runCli } from './run.ts';

let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-webhooks-cli-'));
  await run('accounts', 'create', 'ada');
});
afterEach(() => rmSync(home, { recursive: true }));

/** A command in local mode, without a server. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { writeOut: (text: string) => void out.push(text), writeErr: (text: string) => void err.push(text) };
  const env = { HOME: home, TOLLGATE_DATA: join(home, 'data') };
  const code = await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: home, clock: systemClock }));
  return { code, out: out.join(''), err: err.join('') };
}

test('shows and changes when an account is alerted, and lists and acknowledges alerts', async () => {
  const settings = await run('alerts', 'settings', 'ada', '--balance-below', '5', '--cap-percent', 'off');
  expect(settings.out).toMatch(/balance below +\$5\.00\ncap percent +off/);
  expect((await run('alerts', 'settings', 'ada', '--balance-below', 'default')).out).toContain("the gateway's setting");
  expect((await run('alerts', 'settings', 'ada', '--cap-percent', '100')).code).toBe(2);
  expect((await run('alerts', 'list')).err).toContain('No alerts match.');
  expect((await run('alerts', 'list', '--status', 'bad')).code).toBe(2);
  await raise();
  const listed = await run('alerts', 'list', '--status', 'unacknowledged');
  const [id] = /alert_\w+/.exec(listed.out)!;
  expect(listed.out).toContain('A message.');
  const seen = await run('alerts', 'acknowledge', id);
  expect([seen.code, seen.out]).toEqual([0, expect.stringMatching(/seen by +(?!nobody)\S+/)]);
  expect((await run('alerts', 'list', '--status', 'unacknowledged')).out).toBe('');
  expect((await run('alerts', 'acknowledge', 'alert_1')).code).toBe(1);
});

/** An alert of the operator, as a server would raise it. */
async function raise(): Promise<void> {
  const store = await openSqliteStore({ folder: join(home, 'data'), clock: systemClock, threads: false });
  const alert = { id: 1n << 40n, condition: 'disk:one', kind: 'disk', subject: 'one', message: 'A message.' } as const;
  await store.directory.raiseAlert({ ...alert, accountId: null, dataJson: '{}', createdMs: Date.now() }, 0);
  await store.close();
}

const URL = 'http://127.0.0.1:9/in';

test('adds a webhook, prints its secret once, and shows, rotates and removes it', async () => {
  const added = await run('webhooks', 'add', 'billing', URL, '--account', 'ada');
  expect([added.code, added.out]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
  expect(added.err).toContain('Save the secret now');
  const changed = await run('webhooks', 'add', 'billing', URL, '--account', 'ada', '--events', 'webhook.test');
  expect([changed.code, changed.out]).toEqual([0, '']);
  const wrong = await run('webhooks', 'add', 'billing', URL, '--account', 'ada', '--events', 'webhook.tset');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/^--events must be .*, webhook\.test\.\n$/)]);
  const listed = await run('webhooks', 'list', '--account', 'ada');
  expect(listed.out).toMatch(/billing +http:\/\/127\.0\.0\.1:9\/in +webhook\.test +active +0 +never/);
  expect(JSON.parse((await run('webhooks', 'list', '--json')).out)).toMatchObject({ data: [] });
  const rotated = await run('webhooks', 'rotate', 'billing', '--account', 'ada', '--grace', '1h');
  expect([rotated.code, rotated.out]).toEqual([0, expect.stringMatching(/^whsec_/)]);
  expect(rotated.out).not.toBe(added.out);
  expect(rotated.err).toMatch(/old secret +until/);
  const removed = await run('webhooks', 'remove', 'billing', '--account', 'ada');
  expect([removed.code, removed.out]).toEqual([0, 'Removed webhook "billing".\n']);
  const gone = await run('webhooks', 'show', 'billing', '--account', 'ada');
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('There is no webhook "billing".')]);
  expect(gone.err).toContain('Try: tollgate webhooks list --account ada');
});

test('an empty list says whether the operator or an account has no webhooks, and how to see those of an account', async () => {
  await run('webhooks', 'add', 'billing', URL, '--account', 'ada');
  const operators = await run('webhooks', 'list');
  expect(operators.out).toBe('');
  expect(operators.err).toMatch(/^The operator has no webhooks yet\. Add one: tollgate webhooks add NAME URL/);
  expect(operators.err).toContain('tollgate webhooks list --account ACCOUNT');
  await run('webhooks', 'remove', 'billing', '--account', 'ada');
  const { err } = await run('webhooks', 'list', '--account', 'ada');
  expect(err).toMatch(/^The account has no webhooks yet\. Add one: tollgate webhooks add NAME URL --account ada/);
});

test('stores a test event for the next server, says that it was not tried yet, and exits with 1', async () => {
  await run('webhooks', 'add', 'pager', URL);
  const tested = await run('webhooks', 'test', 'pager');
  expect([tested.code, tested.out]).toEqual([1, expect.stringMatching(/status +pending/)]);
  expect(tested.err).toMatch(/a running server delivers it\. See "tollgate webhooks show pager( --data \S+)?"\./);
  const shown = await run('webhooks', 'show', 'pager');
  expect(shown.out).toMatch(/evt_\w+ +webhook\.test .* pending +0/);
  expect(JSON.parse((await run('webhooks', 'show', 'pager', '--json')).out)).toMatchObject({
    name: 'pager',
    account: null,
    deliveries: [{ type: 'webhook.test', status: 'pending' }],
  });
});

test('refuses a forbidden URL, an unknown account and a bad duration', async () => {
  const refused = await run('webhooks', 'add', 'pager', 'https://10.0.0.1/');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('address of a private network')]);
  expect((await run('webhooks', 'add', 'pager', URL, '--account', 'zoe')).err).toContain('There is no account "zoe".');
  expect((await run('webhooks', 'rotate', 'pager', '--grace', 'soon')).code).toBe(2);
});
