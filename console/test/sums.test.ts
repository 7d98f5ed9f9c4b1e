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
