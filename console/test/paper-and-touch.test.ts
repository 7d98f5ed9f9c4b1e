import { expect, test } from 'vitest';
import { contrast } from '../src/plots/contrast.ts';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';

const suite = demoSuite(startDemo);
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
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

function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

test('a receipt is printed alone and once, without its buttons, however long the list behind it is', async () => {
  const { page, close } = await openReceipt(LAPTOP);
  expect(pagesOf(await page.pdf({ format: 'A4' }))).toBe(1);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('table', { name: 'What the call cost' }).isVisible()).toBe(true);
  expect(await page.getByRole('button').count()).toBe(0);
  expect(await page.getByRole('table', { name: /^Requests/ }).count()).toBe(0);
  await close();
});

test('a page is printed dark on white with the name of its account, without the navigation', async () => {
  const { page, close } = await suite.open(ofAccount('/usage'), { ...LAPTOP, colorScheme: 'dark' });
  await page.getByRole('img', { name: /^Cost by day/ }).waitFor();
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await page.setViewportSize({ width: 700, height: 1000 });
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(27, 28, 30)');
  expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe('rgb(255, 255, 255)');
  expect(await page.getByRole('navigation').count()).toBe(0);
  expect(await page.getByRole('main').getByText('acme', { exact: true }).isVisible()).toBe(true);
  const chosen = page.getByRole('group', { name: 'Time' }).getByRole('button');
  expect(await chosen.allTextContents(), 'the period of the report').toEqual(['30 d']);
  expect(pagesOf(await page.pdf({ format: 'A4' }))).toBe(1);
  await close();
});

test('a secret that is shown once is not printed, and its dialog is printed alone', async () => {
  const { page, close } = await suite.open(ofAccount(`/keys?open=${suite.demo.keys[0]!.id}`), LAPTOP);
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('dialog').last().getByRole('button', { name: 'Rotate' }).click();
  const secret = await page.locator('[data-secret]').textContent();
  await page.emulateMedia({ media: 'print' });
  const printed = await page.evaluate('document.body.innerText');
  expect(printed).toContain('It is not printed.');
  expect(printed).not.toContain(secret);
  expect(printed).not.toContain('anna-laptop');
  expect(printed).not.toContain('Most for one call');
  expect(pagesOf(await page.pdf({ format: 'A4' }))).toBe(1);
  await page.emulateMedia({ media: 'screen' });
  expect(await page.locator('[data-secret]').isVisible()).toBe(true);
  await close();
});

test('times are printed in full', async () => {
  const { page, close } = await suite.open(ofAccount('/balance'), LAPTOP);
  await page.getByRole('row', { name: /invoice-1001/ }).waitFor();
  await page.emulateMedia({ media: 'print' });
  const printed = `[...document.querySelectorAll('main time')].map((each) => getComputedStyle(each, '::after').content)`;
  const times = (await page.evaluate(printed)) as string[];
  expect(times.length).toBeGreaterThan(1);
  expect(times.filter((time) => !/ \d{4}, \d\d:\d\d:\d\d UTC"$/.test(time))).toEqual([]);
  await close();
});

test('the window is named after the page and what is open on it', async () => {
  const { id, page, close } = await openReceipt(LAPTOP);
  expect(await page.title()).toBe(`Receipt ${id} · Requests · Tollgate`);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.title()).toBe('Requests · Tollgate');
  await close();
});

test('an open receipt does not hide what the calls in the list cost, on a small laptop either', async () => {
  const { page, close } = await openReceipt(LAPTOP);
  const drawer = (await page.getByRole('dialog').boundingBox())!;
  const head = (await page.getByRole('columnheader', { name: 'Cost' }).boundingBox())!;
  expect(head.x + head.width).toBeLessThanOrEqual(drawer.x);
  await close();
});

test('a finger on the plot shows the figures of a day until it taps elsewhere', async () => {
  const { page, close } = await suite.open(ofAccount('/usage'), PHONE);
  const plot = page.getByRole('img', { name: /^Cost by day/ });
  await plot.waitFor();
  const { x, y } = (await plot.boundingBox())!;
  const days = page.locator('[data-values]');
  await page.touchscreen.tap(x + 100, y + 100);
  await days.getByText(/^(Oct|Nov|Dec|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep) \d+$/).waitFor();
  const first = await days.textContent();
  await page.touchscreen.tap(x + 180, y + 100);
  await expect.poll(() => days.textContent()).not.toBe(first);
  await page.touchscreen.tap(x + 100, y - 60);
  await days.waitFor({ state: 'detached' });
  await close();
});

test('what is typed on a phone is large enough for it not to enlarge the page', async () => {
  const { page, close } = await suite.open(ofAccount('/keys?dialog=mint'), PHONE);
  await page.getByRole('dialog').waitFor();
  const sizes = `[...document.querySelectorAll('input, select, textarea')]
    .map((each) => Number.parseFloat(getComputedStyle(each).fontSize))`;
  const read = (await page.evaluate(sizes)) as number[];
  expect(read.length).toBeGreaterThan(5);
  expect(Math.min(...read)).toBeGreaterThanOrEqual(16);
  await close();
});

test.each(['light', 'dark'] as const)('the edges of fields can be seen: 3 to 1, %s', async (colorScheme) => {
  const { page, close } = await suite.open(ofAccount('/keys?dialog=mint'), { ...LAPTOP, colorScheme });
  await page.getByRole('dialog').waitFor();
  const colours = `[...document.querySelectorAll('input, textarea, [role=dialog] select')].map((each) => {
    const { borderColor, backgroundColor } = getComputedStyle(each);
    return [borderColor, backgroundColor];
  })`;
  const read = (await page.evaluate(colours)) as [string, string][];
  expect(read.length).toBeGreaterThan(5);
  expect(read.filter((pair) => contrast(...pair) < 3)).toEqual([]);
  await close();
});

test.each(['light', 'dark'] as const)(
  'the field for a message has an edge, which shows the focus, %s',
  async (colorScheme) => {
    const { page, close } = await suite.open(ofAccount('/playground'), { ...LAPTOP, colorScheme });
    const message = page.getByLabel('Message', { exact: true });
    await message.waitFor();
    const read = `(({ borderColor, backgroundColor, outlineStyle }) => ({ borderColor, backgroundColor, outlineStyle }))(
      getComputedStyle(document.querySelector('form:has(textarea)')))`;
    const style = () =>
      page.evaluate(read) as Promise<Record<'borderColor' | 'backgroundColor' | 'outlineStyle', string>>;
    await page.getByRole('heading', { name: 'Playground' }).click();
    const { borderColor, backgroundColor, outlineStyle } = await style();
    expect(contrast(borderColor, backgroundColor)).toBeGreaterThanOrEqual(3);
    expect(outlineStyle).toBe('none');
    await message.focus();
    expect((await style()).outlineStyle).toBe('solid');
    await close();
  },
);
