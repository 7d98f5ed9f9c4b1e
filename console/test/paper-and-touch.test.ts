import { expect, test } from 'vitest';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';

const suite = demoSuite(startDemo);
const LAPTOP = { viewport: { width: 1280, height: 800 } };

const ofAccount = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}account=${suite.demo.account}`;

async function newestReceipt(): Promise<string> {
  const { data } = await suite.demo.manage.get(`/receipts?account=${suite.demo.account}&model=sim-claude&limit=1`);
  return data[0].id;
}

async function openReceipt(options: Parameters<typeof suite.open>[1]) {
  const id = await newestReceipt();
  const opened = await suite.open(ofAccount(`/requests?open=${id}`), options);
  await opened.page.getByRole('table', { name: 'What the call cost' }).waitFor();
  await opened.page
    .getByRole('row', { name: /sim-gpt/ })
    .nth(20)
    .waitFor();
  return { id, ...opened };
}

test('an open receipt does not hide what the calls in the list cost, on a small laptop either', async () => {
  const { page, close } = await openReceipt(LAPTOP);
  const drawer = (await page.getByRole('dialog').boundingBox())!;
  const head = (await page.getByRole('columnheader', { name: 'Cost' }).boundingBox())!;
  expect(head.x + head.width).toBeLessThanOrEqual(drawer.x);
  await close();
});
