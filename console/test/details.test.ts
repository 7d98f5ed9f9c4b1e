import { expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

async function call(secret: string, body: object): Promise<void> {
  const { harness } = suite.world;
  await (await harness.post({ max_tokens: 8, ...body }, { authorization: `Bearer ${secret}` })).text();
  await harness.settled();
}

const says = (content: string) => ({ messages: [{ role: 'user', content }] });

test('the list of requests says why a call was refused, on a phone too', async () => {
  const { harness, accountId } = suite.world;
  const { secret } = await harness.mintFor(accountId, { capNanousd: 1n });
  await call(secret, { model: 'sim-gpt-mini', ...says('Hello') });
  const page = await openAs('owner', '/requests?show=refused');
  const row = page.getByRole('row', { name: /402/ }).first();
  await row.getByText('key spend cap exceeded').waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await row.getByText('key spend cap exceeded').isVisible()).toBe(true);
  await page.context().close();
});

test.each([1024, 1280, 1440, 1920])(
  'the reason of a refusal can be read beside a long model at %i px',
  async (width) => {
    const page = await openAs('owner', '');
    const model = 'anthropic/claude-sonnet-4-5-20250929';
    const refusal = {
      ...{ object: 'refusal', id: 'req_1', account: 'acct_1', key: null, route: '/v1/chat/completions', model },
      ...{ created: 1_700_000_000, http_status: 402, code: 'key_spend_cap_exceeded', message: 'No.' },
      ...{ worst_nanousd: null, available_nanousd: null },
    };
    const body = JSON.stringify({ object: 'list', data: [refusal], next: null });
    await page.route(/\/manage\/v1\/refusals\?/, (route) => route.fulfill({ contentType: 'application/json', body }));
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${CONSOLE_URL}/requests?show=refused`);
    const reason = page.getByText('key spend cap exceeded');
    await reason.waitFor();
    const spans = `[...document.querySelectorAll('td span')].filter(({ textContent }) => textContent === 'key spend cap exceeded')`;
    expect(await page.evaluate(`${spans}.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)`)).toEqual([
      0,
    ]);
    const widths = await Promise.all([reason, page.getByText(model)].map((text) => text.boundingBox()));
    expect(Math.min(...widths.map((box) => box?.width ?? 0))).toBeGreaterThan(80);
    await page.context().close();
  },
);

test('the input of a call in the list of requests has the cached part in it, as on the page of usage', async () => {
  const { harness, accountId } = suite.world;
  const { secret } = await harness.mintFor(accountId);
  const prompt = { model: 'sim-gpt-mini', ...says('The printer is on fire. '.repeat(400)) };
  await call(secret, prompt);
  await call(secret, prompt);
  const { usage } = await harness.newestReceipt();
  expect(usage!.cacheReadTokens).toBeGreaterThan(0);
  const page = await openAs('owner', '/requests?show=complete');
  const row = page.getByRole('row', { name: /200 sim-gpt-mini/ }).first();
  const counts = [usage!.freshTokens + usage!.cacheReadTokens, usage!.cacheReadTokens];
  const [input, cached] = counts.map((count) => count.toLocaleString('en'));
  await row.getByRole('cell', { name: input!, exact: true }).waitFor();
  await row.getByRole('cell', { name: cached!, exact: true }).waitFor();
  await page.context().close();
});

test('a key says whose it is in a window that has no room for the column', async () => {
  const { harness, accountId, people } = suite.world;
  const { keyId } = await harness.mintFor(accountId, { personId: people.get('member')! });
  const page = await openAs('owner', `/keys?open=${formatId('key_', keyId)}`);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('dialog').getByText('member@example.com').waitFor();
  await page.context().close();
});

test('a job says which key submitted it, and leads there', async () => {
  const { harness, accountId } = suite.world;
  const { secret, keyId } = await harness.mintFor(accountId);
  const body = { model: 'sim-gpt-mini', max_tokens: 8, ...says('Hello') };
  const job = { endpoint: '/v1/chat/completions', body, not_before: new Date(Date.now() + 3_600_000).toISOString() };
  const { id } = (await (await harness.post(job, { authorization: `Bearer ${secret}` }, '/v1/jobs')).json()) as {
    id: string;
  };
  const page = await openAs('owner', `/jobs?open=${id}`);
  await page.getByRole('dialog').getByRole('link', { name: 'test', exact: true }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get('open')).toBe(formatId('key_', keyId));
  await page.context().close();
});

test('a text that is cut off can be read by pointing at it', async () => {
  const { accountId } = suite.world;
  const account = formatId('acct_', accountId);
  const page = await openAs('operator', `/accounts`);
  const name = 'An account with a name for which no window has enough room';
  const headers = { 'content-type': 'application/json' };
  const init = JSON.stringify({ method: 'PATCH', headers, body: JSON.stringify({ name }) });
  await page.evaluate(`fetch('/manage/v1/accounts/${account}', ${init})`);
  await page.goto(`${CONSOLE_URL}/accounts`);
  const link = page.getByRole('table').getByRole('link', { name });
  await link.hover();
  expect(await link.getAttribute('title')).toBe(name);
  await page.getByRole('heading', { name: 'Accounts' }).hover();
  expect(await link.getAttribute('title')).toBeNull();
  await link.focus();
  expect(await link.getAttribute('title')).toBe(name);
  await link.blur();
  expect(await link.getAttribute('title')).toBeNull();
  await page.evaluate("document.querySelector('table a').parentElement.title = 'Of the page'");
  await link.hover();
  expect(await link.getAttribute('title')).toBeNull();
  await page.goto(`${CONSOLE_URL}/models`);
  const short = page.getByText('sim-claude', { exact: true }).first();
  await short.hover();
  expect(await short.getAttribute('title')).toBeNull();
  await page.context().close();
});

test.each([390, 1280])('the models of a host are named whole at %i px', async (width) => {
  const page = await openAs('operator', '/hosts?open=sim');
  await page.setViewportSize({ width, height: 800 });
  const models = page.getByRole('table', { name: 'Models of the host' });
  await models.getByText('sim-responses').waitFor();
  const links = `[...document.querySelectorAll('[aria-label="Models of the host"] a')]`;
  const isCut = '({ scrollWidth, clientWidth }) => scrollWidth > clientWidth';
  const cut = `${links}.flatMap((each) => [each, ...each.children]).filter(${isCut}).length`;
  expect(await page.evaluate(`${links}.length`)).toBeGreaterThan(4);
  expect(await page.evaluate(cut)).toBe(0);
  await page.context().close();
});

test('members show what they have spent on a phone too', async () => {
  const page = await openAs('owner', '/members');
  await page.setViewportSize({ width: 390, height: 844 });
  const row = page.getByRole('row', { name: /member@example\.com/ });
  await row.getByText('no cap').first().waitFor();
  await page.context().close();
});

test('the overview of an account that was suspended says so, and not that credit is missing', async () => {
  const page = await openAs('operator', '/accounts');
  const init = JSON.stringify({ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  const created = JSON.stringify({ ...JSON.parse(init), body: JSON.stringify({ name: 'idle' }) });
  const id = await page.evaluate(`fetch('/manage/v1/accounts', ${created}).then((r) => r.json()).then(({ id }) => id)`);
  await page.evaluate(`fetch('/manage/v1/accounts/${id}/suspend', ${init})`);
  await page.goto(`${CONSOLE_URL}/?account=${id}`);
  await page.getByText('This account is suspended, so calls are refused').waitFor();
  expect(await page.getByText('has no money').count()).toBe(0);
  await page.evaluate(`fetch('/manage/v1/accounts/${id}/close', ${init})`);
  await page.reload();
  await page.getByText('This account is closed for good, so calls are refused.').waitFor();
  await page.context().close();
});

test('a plot of a few days has the name of each day below its bar', async () => {
  const { harness, accountId } = suite.world;
  const { secret } = await harness.mintFor(accountId);
  await call(secret, { model: 'sim-gpt-mini', ...says('Hello') });
  const day = (back: number): string => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const page = await openAs('owner', `/usage?range=custom&from=${day(2)}&to=${day(0)}`);
  const plot = page.getByRole('img', { name: /^Cost by/ });
  const bar = (await plot.locator('rect').last().boundingBox())!;
  const name = (await plot.locator('text').last().boundingBox())!;
  expect(Math.abs(bar.x + bar.width / 2 - (name.x + name.width / 2))).toBeLessThan(2);
  await page.context().close();
});
