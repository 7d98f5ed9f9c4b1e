import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';

const suite = demoSuite(startDemo);

/** The exact amounts of the second column, of which the last one is the total. */
async function amountsOf(table: Locator): Promise<readonly bigint[]> {
  const spans = await table.locator('tr td:nth-child(2) span[title]').all();
  const titles = await Promise.all(spans.map((span) => span.getAttribute('title')));
  return titles.map((title) => BigInt(title!.split(' · ')[1]!.replaceAll(/[^\d]/g, '')));
}

test('the usage table shows what the receipts sum to, and so do the figures of the plot', async () => {
  const { page, close } = await suite.open(`/usage?account=${suite.demo.account}&by=model&range=90d`);
  const table = page.getByRole('table', { name: 'Usage by model' });
  await table.getByText('Total').waitFor();
  const amounts = (await amountsOf(table)).slice(0, -1);
  const [total] = (await amountsOf(table)).slice(-1);
  expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(total);
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  const weeks = await amountsOf(page.getByRole('table', { name: 'Cost by week' }));
  expect(weeks.at(-1)).toBe(total);
  expect(weeks.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)).toBe(total);
  let paid = 0n;
  for (let after = ''; after !== null; ) {
    const { data, next } = await suite.demo.manage.get(
      `/receipts?account=${suite.demo.account}&limit=1000${after && `&after=${after}`}`,
    );
    for (const { cost_nanousd } of data) paid += BigInt(cost_nanousd ?? 0);
    after = next;
  }
  expect(total).toBe(paid);
  await close();
});

test('credits an account once if the answer is lost and the same form is sent again, without a reference too', async () => {
  const { page, close } = await suite.open(`/balance?account=${suite.demo.account}`);
  let lost = 0;
  await page.route(/\/credits$/, async (route) => {
    if (lost++ > 0) return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Add credit' }).click();
  await page.getByLabel('Amount', { exact: true }).fill('7.25');
  const send = page.getByRole('dialog').getByRole('button', { name: 'Add credit' });
  await send.click();
  await page.getByText('It is not known whether the change was made').waitFor();
  await page.getByLabel('Amount', { exact: true }).fill('8.25');
  await send.click();
  await page
    .getByRole('alert')
    .getByText('An earlier attempt in this form was recorded with a different amount')
    .waitFor();
  await page.getByLabel('Amount', { exact: true }).fill('7.25');
  await send.click();
  await page.getByText('The first attempt had been recorded, so nothing was added again.').waitFor();
  const { data } = await suite.demo.manage.get(`/accounts/${suite.demo.account}/entries`);
  const credited = data.filter(({ amount_nanousd }: { amount_nanousd: number }) => amount_nanousd === 7_250_000_000);
  expect(credited).toHaveLength(1);
  await close();
});

test('finds entries of a type that stand behind many others', async () => {
  const { page, close } = await suite.open('/models');
  await page.route(/\/entries\?/, async (route) => {
    const url = new URL(route.request().url());
    const isFirst = !url.searchParams.has('after');
    url.searchParams.delete('after');
    const response = await route.fetch({ url: url.href });
    const { data, ...rest } = (await response.json()) as { data: { type: string }[] };
    const rows = data.filter(({ type }) => (type === 'credit') !== isFirst);
    await route.fulfill({ response, json: { ...rest, data: rows, next: isFirst ? 'more' : null } });
  });
  await page.goto(page.url().replace('/models', `/balance?account=${suite.demo.account}&type=credit`));
  await page.getByText('invoice-1001').waitFor();
  await close();
});
