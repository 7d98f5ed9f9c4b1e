import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;
/** Every list that follows what happens is read again within this time. */
const READ_AGAIN_MS = 30_000;

/** Answers a list of the API with these rows, and with others once they are replaced. */
async function serveRows(page: Page, url: RegExp, rows: readonly object[]): Promise<(next: readonly object[]) => void> {
  let served = rows;
  await page.route(url, (route) =>
    route.fulfill({
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ object: 'list', data: served, next: null }),
    }),
  );
  return (next) => {
    served = next;
  };
}

test('problems of a host in the same second are each listed once, also after newer ones came', async () => {
  const page = await openAs('operator', '/models');
  await page.clock.install();
  const event = { at: 1_700_000_000, kind: 'limited', status: 429 };
  const host = { object: 'host', id: 'sim', state: 'limited', first_byte_ms: null, models: [] };
  const replace = await serveRows(page, /\/manage\/v1\/hosts$/, [{ ...host, events: [event, event, event] }]);
  await page.goto(`${CONSOLE_URL}/hosts?open=sim`);
  const rows = page.getByRole('table', { name: 'Events' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(3);
  replace([{ ...host, events: [{ ...event, at: event.at + 1 }, event, event, event] }]);
  await page.clock.fastForward(READ_AGAIN_MS);
  await expect.poll(() => rows.count()).toBe(4);
  replace([{ ...host, events: [{ ...event, at: event.at + 2 }] }]);
  await page.clock.fastForward(READ_AGAIN_MS);
  await expect.poll(() => rows.count()).toBe(1);
  await page.context().close();
});

describe('the list of groups', () => {
  const counts = { total: 10, waiting: 8, running: 2, succeeded: 0, failed: 0, cancelled: 0, expired: 0 };
  const group = {
    ...{ object: 'job_group', id: 'jobgroup_1', account: 'acct_1', key: null, status: 'running', counts },
    ...{ reserved_nanousd: 5, cost_nanousd: 0, created_at: '2026-01-01T00:00:00Z', metadata: {} },
  };

  async function openGroups() {
    const page = await openAs('owner', '/models');
    await page.clock.install();
    const replace = await serveRows(page, /\/manage\/v1\/job-groups\?/, [group]);
    await page.goto(`${CONSOLE_URL}/jobs?show=groups`);
    await page.getByText('0 of 10').waitFor();
    return { page, replace };
  }

  test('shows how far each is while its jobs run', async () => {
    const { page, replace } = await openGroups();
    replace([{ ...group, counts: { ...counts, waiting: 0, running: 3, succeeded: 7 } }]);
    await page.clock.fastForward(READ_AGAIN_MS);
    await page.getByText('7 of 10').waitFor();
    await page.context().close();
  });

  test('keeps the question whether to cancel a group that finishes meanwhile, and says what came of it', async () => {
    const { page, replace } = await openGroups();
    const message = 'The group has finished.';
    await page.route(/\/job-groups\/jobgroup_1\/cancel$/, (route) =>
      route.fulfill({ status: 409, json: { error: { message, type: 'invalid_request_error', code: 'refused' } } }),
    );
    await page
      .getByRole('row', { name: /jobgroup_1/ })
      .getByRole('button', { name: 'Cancel' })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Cancel jobgroup_1' });
    await dialog.waitFor();
    replace([{ ...group, status: 'finished', counts: { ...counts, waiting: 0, running: 0, succeeded: 10 } }]);
    await page.clock.fastForward(READ_AGAIN_MS);
    await page.getByText('10 of 10').waitFor();
    await dialog.getByRole('button', { name: 'Cancel jobs' }).click();
    await dialog.getByText(message).waitFor();
    await page.context().close();
  });
});

describe('an open job', () => {
  const job = {
    ...{ object: 'job', id: 'job_1', account: 'acct_1', key: null, group: null, custom_id: 'night', metadata: {} },
    ...{
      endpoint: '/v1/chat/completions',
      effective_model: 'sim-gpt-mini',
      attempts: 0,
      error: null,
      request_id: null,
    },
    ...{ status: 'queued', reserved_nanousd: 5, cost_nanousd: null, created_at: '2026-01-01T00:00:00Z' },
    ...{ not_before: null, started_at: null, expires_at: '2026-01-02T00:00:00Z', finished_at: null },
    ...{ result_expires_at: null },
  };
  const ended = { ...job, status: 'succeeded', started_at: job.created_at, finished_at: job.created_at };

  async function openJob() {
    const page = await openAs('owner', '/models');
    await page.clock.install();
    let served: object = job;
    await page.route(/\/manage\/v1\/jobs\/job_1$/, (route) => route.fulfill({ json: served }));
    await page.goto(`${CONSOLE_URL}/jobs?open=job_1`);
    const drawer = page.getByRole('dialog', { name: 'night', exact: true });
    await drawer.getByText('Latest start').waitFor();
    const end = async (): Promise<void> => {
      served = ended;
      await page.clock.fastForward(READ_AGAIN_MS);
    };
    return { page, drawer, end };
  }

  test('that has ended does not say when it had to start', async () => {
    const { page, drawer, end } = await openJob();
    await end();
    await drawer.getByText('succeeded').waitFor();
    expect(await drawer.getByText('Latest start').count()).toBe(0);
    await page.context().close();
  });

  test('keeps the question whether to cancel it if it ends meanwhile, and says what came of it', async () => {
    const { page, end } = await openJob();
    const message = 'The job has ended.';
    await page.route(/\/jobs\/job_1\/cancel$/, (route) =>
      route.fulfill({ status: 409, json: { error: { message, type: 'invalid_request_error', code: 'refused' } } }),
    );
    await page.getByRole('button', { name: 'Cancel job' }).click();
    const question = page.getByRole('dialog', { name: 'Cancel “night”' });
    await question.waitFor();
    await end();
    await question.getByText('It has ended in the meantime: succeeded.').waitFor();
    await question.getByRole('button', { name: 'Cancel job' }).click();
    await question.getByText(message).waitFor();
    await page.context().close();
  });
});

test('a job in the list ends while the page is open', async () => {
  const { harness, accountId } = suite.world;
  const { secret } = await harness.mintFor(accountId);
  const page = await openAs('owner', '/models');
  await page.clock.install();
  let isHeld = true;
  await page.route(/\/manage\/v1\/jobs\?/, async (route) => {
    const response = await route.fetch({
      url: route.request().url().replace(new URL(CONSOLE_URL).origin, harness.url),
    });
    const text = await response.text();
    await route.fulfill({ response, body: isHeld ? text.replaceAll('"succeeded"', '"running"') : text });
  });
  await fetch(`${harness.url}/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ endpoint: '/v1/chat/completions', custom_id: 'watched' },
      body: { model: 'sim-gpt-mini', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] },
    }),
  });
  await page.goto(`${CONSOLE_URL}/jobs`);
  const row = page.getByRole('row', { name: /watched/ });
  await row.waitFor();
  isHeld = false;
  await page.clock.fastForward(READ_AGAIN_MS);
  await expect
    .poll(async () => {
      await page.clock.fastForward(READ_AGAIN_MS);
      return row.innerText();
    })
    .toContain('succeeded');
  await page.context().close();
});

test('refused calls of several pages are read again more rarely while the list is live', async () => {
  const page = await openAs('owner', '/models');
  await page.clock.install();
  let asked = 0;
  const refusal = {
    ...{ object: 'refusal', account: 'acct_1', key: null, route: '/v1/chat/completions', model: 'sim-gpt' },
    ...{ http_status: 402, code: 'refused', message: 'No.', worst_nanousd: null, available_nanousd: null },
  };
  await page.route(/\/manage\/v1\/refusals\?/, (route) => {
    asked += 1;
    const at = Number(new URL(route.request().url()).searchParams.get('after') ?? 0) + 1;
    const rows = [{ ...refusal, id: `req_${9 - at}`, created: 1_700_000_000 - at }];
    return route.fulfill({ json: { object: 'list', data: rows, next: at < 4 ? String(at) : null } });
  });
  await page.goto(`${CONSOLE_URL}/requests?show=refused&live=1`);
  const rows = page.locator('[data-row]');
  for (const count of [1, 2, 3]) {
    await expect.poll(() => rows.count()).toBe(count);
    await page.getByRole('button', { name: 'Load older requests' }).click();
  }
  await expect.poll(() => rows.count()).toBe(4);
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await page.evaluate(`fetch('/manage/v1/me').then(() => null)`);
  const before = asked;
  for (let second = 0; second < 16; second++) {
    await page.clock.runFor(1_000);
    // Whatever was asked for before is counted when this has its answer.
    for (let turn = 0; turn < 5; turn++) await page.evaluate(`fetch('/manage/v1/me').then(() => null)`);
  }
  expect(asked - before).toBeGreaterThan(0);
  // Every two seconds it would be eight times four.
  expect(asked - before).toBeLessThanOrEqual(12);
  await page.context().close();
});

test('an alert that the number beside the page announces is in the list too', async () => {
  const page = await openAs('owner', '/models');
  await page.clock.install();
  const replace = await serveRows(page, /\/manage\/v1\/alerts\?/, []);
  await page.goto(`${CONSOLE_URL}/alerts`);
  await page.getByText('Nothing needs attention').waitFor();
  const alert = {
    ...{ object: 'alert', id: 'alert_1', kind: 'balance', account: null, message: 'The balance is low.', created: 0 },
    ...{ resolved_at: null, acknowledged_at: null, acknowledged_by: null },
  };
  replace([alert]);
  await page.clock.fastForward(READ_AGAIN_MS);
  await page.getByRole('row', { name: /The balance is low/ }).waitFor();
  await page.context().close();
});
