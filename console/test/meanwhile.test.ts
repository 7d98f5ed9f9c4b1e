import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { formatId, parseId } from '../../src/kit/ids.ts';
import { startHarness } from '../../test/harness.ts';
import { enrol } from '../../test/people.ts';
import type { Demo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';
import { ManageClient } from './manage-client.ts';

const suite = demoSuite(startEmpty);
const WEBHOOKS_READ_MS = 15_000;

async function startEmpty(): Promise<Demo> {
  const harness = await startHarness();
  const manage = new ManageClient(harness);
  const { id: account } = await manage.post('/accounts', { name: 'acme' });
  return { harness, manage, account, keys: [] };
}

/** Paths of the changes that the page sends from now on. */
function changesSentBy(page: Page): readonly string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname);
  });
  return sent;
}

describe('the form of a member', () => {
  async function openForm(name: string) {
    const { harness, account } = suite.demo;
    const roles = [[parseId('acct_', account)!, 'owner']] as const;
    const personId = await enrol(harness.running.books, `${name}@example.org`, { name, roles });
    const path = `/accounts/${account}/members/${formatId('person_', personId)}`;
    const { page, close } = await suite.open(`/members?account=${account}`);
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Change role or cap' }).click();
    return { page, close, path };
  }

  async function found(name: string) {
    const { data } = await suite.demo.manage.get(`/accounts/${suite.demo.account}/members`);
    return data.find((each: { readonly name: string }) => each.name === name);
  }

  test('leaves a role that somebody else changed meanwhile when only the cap is saved', async () => {
    const { page, close, path } = await openForm('Ada');
    await page.getByLabel('Cap of the person').fill('3');
    await suite.demo.manage.put(path, { role: 'viewer' });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Ada is a viewer.').waitFor();
    expect(await found('Ada')).toMatchObject({ role: 'viewer', spend_cap_nanousd: 3_000_000_000 });
    await close();
  });

  test('says why nothing was saved for somebody who was removed meanwhile, who does not come back', async () => {
    const { page, close, path } = await openForm('Bea');
    await page.getByLabel('Role', { exact: true }).selectOption('member');
    await page.getByLabel('Cap of the person').fill('3');
    await suite.demo.manage.delete(path);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('alert').getByText('There is no person "bea@example.org" in this account.').waitFor();
    expect(await found('Bea')).toBeUndefined();
    await close();
  });

  test('closes without a request if nothing differs', async () => {
    const { page, close } = await openForm('Cleo');
    const sent = changesSentBy(page);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(sent).toEqual([]);
    await close();
  });
});

test('the form that adds credit stays and says why, if the account was closed meanwhile', async () => {
  const { manage } = suite.demo;
  const { id: account } = await manage.post('/accounts', { name: 'closed-meanwhile' });
  const { page, close } = await suite.open(`/balance?account=${account}&dialog=credit`);
  await page.getByRole('textbox', { name: 'Amount' }).fill('5');
  await page.getByLabel('Reference').fill('invoice-1');
  await manage.post(`/accounts/${account}/close`);
  await page.getByRole('dialog').getByRole('button', { name: 'Add credit' }).click();
  await page.getByText('the account is closed', { exact: true }).waitFor();
  await page.getByRole('dialog').getByRole('alert').getByText('closed').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await close();
});

describe('the form that rotates a key', () => {
  test('says that somebody else has rotated it meanwhile, and which secret rotating it again would stop', async () => {
    const { account, manage } = suite.demo;
    const { id } = await manage.post('/keys', { account, name: 'rotated-twice' });
    const { page, close } = await suite.open(`/keys?account=${account}&open=${id}`);
    await page.getByRole('button', { name: 'Rotate' }).click();
    await manage.post(`/keys/${id}/rotate`);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByRole('alert').getByText('so it was not rotated').waitFor();
    await page
      .getByText('This key still has an older secret, which expires in 1 day. Rotating ends it at once')
      .waitFor();
    const { hint } = await manage.get(`/keys/${id}`);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.locator('[data-secret]').waitFor();
    expect((await manage.get(`/keys/${id}`)).hint).not.toBe(hint);
    await close();
  });

  test('says nothing of an older secret that has expired while the page was open', async () => {
    const { account, manage } = suite.demo;
    const { id } = await manage.post('/keys', { account, name: 'rotated-long-ago' });
    await manage.post(`/keys/${id}/rotate`);
    const { page, close } = await suite.open(`/keys?account=${account}&open=${id}`);
    await page.clock.install();
    await page.getByRole('button', { name: 'Rotate' }).click();
    const older = page.getByText('This key still has an older secret');
    await older.waitFor();
    // The gateway itself would know that it has expired.
    await page.route(/\/manage\/v1\/keys/, () => undefined);
    await page.clock.fastForward('25:00:00');
    await older.waitFor({ state: 'detached' });
    await close();
  });
});

describe('the form of thresholds', () => {
  const settingsPath = (): string => `/accounts/${suite.demo.account}/alert-settings`;
  const openForm = async () => {
    const { page, close } = await suite.open(`/alerts?account=${suite.demo.account}&dialog=settings`);
    await page.getByLabel('Alert when the balance is below').waitFor();
    return { page, close };
  };

  test('leaves a percentage that somebody else set meanwhile when only the balance is saved', async () => {
    await suite.demo.manage.patch(settingsPath(), { balance_below_nanousd: 5_000_000_000, cap_percent: null });
    const { page, close } = await openForm();
    await page.getByLabel('Alert when the balance is below').fill('7');
    await suite.demo.manage.patch(settingsPath(), { cap_percent: 50 });
    await page.getByRole('button', { name: 'Save thresholds' }).click();
    await page.getByText('The thresholds were changed.').waitFor();
    expect(await suite.demo.manage.get(settingsPath())).toMatchObject({
      ...{ balance_below_nanousd: 7_000_000_000, cap_percent: 50 },
    });
    await close();
  });

  test('closes without a request if nothing differs', async () => {
    const { page, close } = await openForm();
    const sent = changesSentBy(page);
    await page.getByRole('button', { name: 'Save thresholds' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(sent).toEqual([]);
    await close();
  });

  test('names 100 percent as wrong, as the API does', async () => {
    const { page, close } = await openForm();
    await page.getByLabel('Alert when this much of a cap is spent').fill('100');
    await page.getByText('A whole number from 0 to 99.').waitFor();
    expect(await page.getByRole('button', { name: 'Save thresholds' }).isDisabled()).toBe(true);
    await close();
  });
});

test('the form of a webhook leaves a URL that somebody else changed meanwhile when only the events are saved', async () => {
  const { manage, account } = suite.demo;
  const url = (name: string): string => `https://127.0.0.1/${name}`;
  await manage.put('/webhooks/shared', { account, url: url('old') });
  const { page, close } = await suite.open(`/models?account=${account}`);
  await page.clock.install();
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('row', { name: /shared/ }).click();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('All, including those of later versions').uncheck();
  await page.getByLabel('ends of jobs').check();
  await manage.put('/webhooks/shared', { account, url: url('new') });
  await page.clock.fastForward(WEBHOOKS_READ_MS);
  await expect.poll(() => page.getByLabel('URL').inputValue()).toBe(url('new'));
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('“shared” was changed.').waitFor();
  expect(await manage.get(`/webhooks/shared?account=${account}`)).toMatchObject({ url: url('new'), events: ['job.*'] });
  await close();
});

test('an account that somebody else renamed meanwhile can be renamed with a second attempt, which knows the other name', async () => {
  const { manage } = suite.demo;
  const { id } = await manage.post('/accounts', { name: 'first' });
  const { page, close } = await suite.open('/accounts');
  await page.getByRole('button', { name: 'Actions for first' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await manage.patch(`/accounts/${id}`, { name: 'second' });
  await page.getByLabel('Name', { exact: true }).fill('third');
  const save = page.getByRole('button', { name: 'Save name' });
  await save.click();
  await page
    .getByRole('alert')
    .getByText('Somebody else changed this in the meantime, so nothing was saved.')
    .waitFor();
  await page.getByRole('dialog', { name: 'Rename “second”' }).waitFor();
  await save.click();
  await page.getByText('The account is now called “third”.').waitFor();
  await close();
});

test('the current values of a key that cannot be read are not taken from before the conflict', async () => {
  const { manage, account } = suite.demo;
  const { id } = await manage.post('/keys', { account, name: 'shared', spend_cap_nanousd: 2_000_000_000 });
  const { page, close } = await suite.open(`/keys?account=${account}&open=${id}`);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Spend cap').fill('7');
  await manage.patch(`/keys/${id}`, { spend_cap_nanousd: 3_000_000_000 });
  await page.getByRole('button', { name: 'Save changes' }).click();
  const load = page.getByRole('button', { name: 'Load the current values' });
  await expect.poll(() => load.isEnabled()).toBe(true);
  const body = JSON.stringify({ error: { message: 'Not today.', code: null, type: 'refused' } });
  await page.route(new RegExp(`/keys/${id}$`), (route) => route.fulfill({ status: 403, body }));
  await load.click();
  await page.getByRole('alert').getByText('Not today.').waitFor();
  expect(await page.getByLabel('Spend cap').inputValue()).toBe('7');
  await page.unroute(new RegExp(`/keys/${id}$`));
  await load.click();
  await expect.poll(() => page.getByLabel('Spend cap').inputValue()).toBe('3');
  await close();
});

test('a key that expires after the end of the calendar is listed, and can be changed', async () => {
  const { manage, account } = suite.demo;
  const { id } = await manage.post('/keys', { account, name: 'eternal' });
  const { page, close } = await suite.open('/models');
  await page.route(/\/manage\/v1\/keys(\?|\/)/, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    const text = (await response.text()).replaceAll('"expires_at":null', '"expires_at":9000000000000');
    return route.fulfill({ response, body: text });
  });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.locator(`[data-row="${id}"]`).click();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Name').fill('endless');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('“endless” was changed.').waitFor();
  expect((await manage.get(`/keys/${id}`)).expires_at).toBeNull();
  await close();
});

describe('a response that breaks off', () => {
  /** Counts the requests whose responses break off, which no route of a test can do. */
  async function breakOff(page: Page, method: string, path: string): Promise<() => Promise<unknown>> {
    await page.evaluate(`{
      const { fetch } = window;
      window.broken = 0;
      window.fetch = async (url, init) => {
        const response = await fetch(url, init);
        if ((init.method ?? 'GET') !== '${method}' || new URL(url, location).pathname !== '${path}') return response;
        window.broken += 1;
        await response.text();
        return new Response(new ReadableStream({ start: (sink) => sink.error(new TypeError('network error')) }));
      };
    }`);
    return () => page.evaluate('window.broken');
  }

  test('is asked for again a few times, and is not taken for a gateway that is away', async () => {
    const { page, close } = await suite.open('/models');
    await page.getByText('sim-claude').first().waitFor();
    const broken = await breakOff(page, 'GET', '/manage/v1/keys');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByText('The response of the gateway broke off.').waitFor();
    expect(await broken()).toBe(3);
    expect(await page.getByText('The gateway cannot be reached.').count()).toBe(0);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await close();
  });

  test('to a change says that it is not known whether it was made', async () => {
    const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&dialog=mint`);
    await page.getByLabel('Name').fill('minted-unseen');
    await breakOff(page, 'POST', '/manage/v1/keys');
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.getByRole('alert').getByText('It is not known whether the change was made.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('row', { name: 'minted-unseen' }).waitFor();
    await close();
  });
});

test('a change that is not answered says that it is not known whether it was made', async () => {
  const { page, close } = await suite.open(`/keys?account=${suite.demo.account}&dialog=mint`);
  await page.getByLabel('Name').fill('minted-unheard');
  await page.route(/\/manage\/v1\/keys$/, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByRole('alert').getByText('It is not known whether the change was made.').waitFor();
  await close();
});

test('a call that was running when the list was read is shown as it ends, in the list and in its receipt', async () => {
  const { harness } = suite.demo;
  const call = { model: 'sim-gpt', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  const answering = harness.post({ ...call, sim: { gateHead: 'later' } });
  await harness.sim.waitForGate('later', 1);
  const { page, close } = await suite.open('/requests?live=1');
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
  const row = page.getByRole('row', { name: /running/ });
  await row.click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('Not settled yet').waitFor();
  harness.sim.release('later');
  await (await answering).text();
  await drawer.getByText('Charged').waitFor();
  await row.waitFor({ state: 'detached' });
  await close();
});

test('a live list has every call, although more have ended than the live tail keeps', async () => {
  const { harness, manage } = suite.demo;
  const call = { model: 'sim-gpt', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  await (await harness.post(call)).text();
  const { page, close } = await suite.open('/models');
  let connections = 0;
  await page.route(/\/manage\/v1\/receipts\/feed/, async (route) => {
    connections += 1;
    if (connections > 1) return route.abort();
    // The list was read before; this call ended first after that, and 500 others followed it.
    await (await harness.post(call)).text();
    const [first] = (await manage.get('/receipts?limit=1')).data;
    const others = Array.from({ length: 500 }, (_, at) => ({ ...first, id: `req_${'y'.repeat(10)}${100 + at}` }));
    const events = [first, ...others].map((receipt) => `event: receipt\ndata: ${JSON.stringify(receipt)}\n\n`);
    return route.fulfill({ contentType: 'text/event-stream', body: events.join('') });
  });
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.locator('[data-row]').first().waitFor();
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await page.locator('[data-row^="req_yyyyyyyyyy"]').first().waitFor();
  const [{ id }] = (await manage.get('/receipts?limit=1')).data;
  await page.locator(`[data-row="${id}"]`).waitFor();
  await close();
});

describe('the live list', () => {
  const call = { model: 'sim-gpt', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  /** The id of a call that has ended. */
  const answered = async (): Promise<string> => {
    const answer = await suite.demo.harness.post(call);
    await answer.text();
    return answer.headers.get('x-gateway-request-id')!;
  };

  /** Opens the list, and serves these events of the feed to each of its connections, until there are none. */
  async function openList(eventsFor: (connection: number) => string | null) {
    await answered();
    const { page, close } = await suite.open('/models');
    let connections = 0;
    await page.route(/\/manage\/v1\/receipts\/feed/, (route) => {
      connections += 1;
      const body = eventsFor(connections);
      return body === null ? route.abort() : route.fulfill({ contentType: 'text/event-stream', body });
    });
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.locator('[data-row]').first().waitFor();
    return { page, close, live: page.getByRole('button', { name: 'Live', exact: true }) };
  }

  const eventsOf = (receipts: readonly object[]): string =>
    receipts.map((receipt) => `event: receipt\ndata: ${JSON.stringify(receipt)}\n\n`).join('');

  test('has the calls that ended before it was turned on, however old the list was', async () => {
    const { page, close, live } = await openList((at) => (at === 1 ? 'event: ready\ndata: {}\n\n' : null));
    const id = await answered();
    await live.click();
    await page.locator(`[data-row="${id}"]`).waitFor();
    await close();
  });

  test('has no calls of the account that was chosen before', async () => {
    await suite.demo.manage.post('/accounts', { name: 'without-calls' });
    await answered();
    const [newest] = (await suite.demo.manage.get('/receipts?limit=1')).data;
    const receipt = { ...newest, id: 'req_zzzzzzzzzz100' };
    const { page, close, live } = await openList((at) => (at === 1 ? eventsOf([receipt]) : null));
    await live.click();
    const row = page.locator(`[data-row="${receipt.id}"]`);
    await row.waitFor();
    await page.getByRole('button', { name: 'All accounts' }).click();
    await page.getByRole('menu').getByText('without-calls', { exact: true }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByText('No requests yet').waitFor();
    await close();
  });
});
