import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../kit/clock.ts';
import { compose } from '../main/compose.ts';
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

const URL = 'http://127.0.0.1:9/in';

test('adds a webhook, prints its secret once, and shows, rotates and removes it', async () => {
  const added = await run('webhooks', 'add', 'billing', URL, '--account', 'ada');
  expect([added.code, added.out]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
  expect(added.err).toContain('Save the secret now');
  const changed = await run('webhooks', 'add', 'billing', URL, '--account', 'ada', '--events', 'webhook.test');
  expect([changed.code, changed.out]).toEqual([0, '']);
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
});

test('stores a test event for the next server, says that it was not tried yet, and exits with 1', async () => {
  await run('webhooks', 'add', 'pager', URL);
  const tested = await run('webhooks', 'test', 'pager');
  expect([tested.code, tested.out]).toEqual([1, expect.stringMatching(/status +pending/)]);
  expect(tested.err).toContain('a running server delivers it');
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
