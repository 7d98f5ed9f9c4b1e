import { expect, test } from 'vitest';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;
/** After this time the pages with figures read them again. */
const REFRESHED_MS = 30_000;

test.each([
  ['/hosts', 'host', 'nothing'],
  ['/models', 'model', 'nothing'],
  ['/webhooks', 'webhook', 'nothing'],
  ['/keys', 'key', 'key_0000000000000'],
  ['/keys', 'key', 'nothing'],
  ['/people', 'person', 'person_0000000000000'],
  ['/jobs', 'job', 'job_0000000000000'],
  ['/jobs', 'job', 'nothing'],
])('a link that opens what is not there names it and leads to the list: %s, %s “%s”', async (path, kind, id) => {
  const page = await openAs('operator', `${path}?open=${id}`);
  await page.getByRole('dialog').getByText(`There is no ${kind} “${id}”`).waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  await page.getByRole('button', { name: `Go to ${path.slice(1)}` }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('open')).toBeNull();
  await page.context().close();
});

test.each(['/requests?key=key_0000000000000', '/jobs?group=nothing', '/usage?key=nothing'])(
  'a filter of a link that nothing can match is named, and removed together with the others: %s',
  async (path) => {
    const page = await openAs('owner', path);
    const refusal = page.getByRole('alert').first();
    await refusal.getByText(/There is no such|must be an id/).waitFor();
    await refusal.getByRole('link', { name: 'Remove the filters' }).click();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).not.toMatch(/key=|group=/);
    await page.context().close();
  },
);

test.each(['job_0000000000000', 'nothing'])(
  'what is not there is asked for once, not every few seconds: %s',
  async (id) => {
    const page = await openAs('operator', '');
    await page.clock.install();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith(`/manage/v1/jobs/${id}`)) asked += 1;
    });
    await page.goto(`${CONSOLE_URL}/jobs?open=${id}`);
    await page.getByRole('dialog').getByText('There is no job').waitFor();
    await page.clock.runFor(10_000);
    // Whatever the timers asked for was asked for before this.
    await page.evaluate(`fetch('/manage/v1/me').then((response) => response.text())`);
    expect(asked).toBe(1);
    await page.context().close();
  },
);

test('a link to a request or a change that is not there says so', async () => {
  const page = await openAs('operator', '');
  for (const id of ['req_0000000000000', 'nothing']) {
    await page.goto(`${CONSOLE_URL}/requests?open=${id}`);
    await page.getByRole('dialog').getByText('No request has this id').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  }
  await page.goto(`${CONSOLE_URL}/audit?open=nothing`);
  await page.getByRole('dialog').getByText('It is not among the changes that were read.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('open')).toBeNull();
  await page.context().close();
});

test('a file with more than the page shows is called so', async () => {
  const page = await openAs('operator', '/accounts?q=nothing');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'All accounts, CSV' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Search accounts').fill('');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV', exact: true }).waitFor();
  await page.context().close();
});

test('sums and counts of accounts say that there are more than were read', async () => {
  const page = await openAs('operator', '/models');
  await page.route(/\/manage\/v1\/accounts\?/, async (route) => {
    const account = (name: string) => ({
      ...{ object: 'account', id: `acct_${name}`, name, kind: 'prepaid', status: 'active', created: 0, version: 1 },
      ...{ balance_nanousd: 1, held_nanousd: 0, reserved_nanousd: 0, available_nanousd: 1, spent_nanousd: 0 },
    });
    const body = JSON.stringify({ object: 'list', data: ['one', 'two'].map(account), next: 'acct_two' });
    await route.fulfill({ status: 200, contentType: 'application/json', body });
  });
  const usage = { requests: 1, refused: 0, cost_nanousd: 0, refunded_nanousd: 0 };
  const report = { object: 'usage', since: 0, until: 3_600, bucket: 'none', group_by: [], data: [], totals: usage };
  await page.route(/\/manage\/v1\/usage\?/, (route) =>
    route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(report) }),
  );
  await page.goto(CONSOLE_URL);
  await page.getByText('Available in the first 2 prepaid accounts').waitFor();
  await page.getByText('2+ accounts').waitFor();
  await page.context().close();
});

test('the overview says of how many keys it knows which is closest to its cap, if it has not read them all', async () => {
  const page = await openAs('owner', '/models');
  await page.route(/\/manage\/v1\/keys\?.*limit=1000/, (route) =>
    route.fulfill({ json: { object: 'list', data: [], next: 'key_0000000000000' } }),
  );
  const usage = { requests: 1, refused: 0, cost_nanousd: 0, refunded_nanousd: 0 };
  const report = { object: 'usage', since: 0, until: 3_600, bucket: 'none', group_by: [], data: [], totals: usage };
  await page.route(/\/manage\/v1\/usage\?/, (route) => route.fulfill({ json: report }));
  await page.goto(CONSOLE_URL);
  await page.getByText('Keys closest to their cap, of the first 1,000').waitFor();
  await page.getByText('None of the first 1,000 keys has a cap').waitFor();
  await page.context().close();
});

test('figures that were read stay while the gateway is away', async () => {
  const page = await openAs('operator', '/models');
  await page.clock.install();
  await page.goto(`${CONSOLE_URL}/system`);
  const figure = page.getByText('Version', { exact: true });
  await figure.waitFor();
  await page.route(/\/manage\/v1\//, (route) => route.abort('connectionrefused'));
  await page.clock.fastForward(REFRESHED_MS);
  await page.getByText('The gateway cannot be reached.').waitFor();
  expect(await page.getByText('This could not be loaded').count()).toBe(0);
  await figure.waitFor();
  await page.context().close();
});

test('a prompt is not quoted before it is known which key would pay', async () => {
  await suite.world.harness.mintFor(suite.world.accountId);
  const page = await openAs('owner', '/requests');
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/manage\/v1\/keys\?/, async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto(`${CONSOLE_URL}/models?open=sim-claude`);
  await page.getByLabel('Prompt').fill('Hello');
  const ask = page.getByRole('button', { name: 'Get a quote' });
  expect(await ask.isDisabled()).toBe(true);
  release();
  await expect.poll(() => ask.isEnabled()).toBe(true);
  await ask.click();
  await page.getByText('Probably costs').waitFor();
  await page.context().close();
});

test('the page of alerts does not say that nothing needs attention when a filter leaves alerts out', async () => {
  const page = await openAs('owner', '/alerts?kind=disk');
  await page.getByText('No alert matches the filters').waitFor();
  expect(await page.getByText('Nothing needs attention').count()).toBe(0);
  await page.context().close();
});
