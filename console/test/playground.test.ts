import { describe, expect, test } from 'vitest';
import { nanousdIn } from './amounts.ts';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';

const suite = demoSuite(startDemo);

const DOT_GIF = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

describe('the playground', () => {
  test.each([
    ['chat', '/v1/chat/completions'],
    ['messages', '/v1/messages'],
    ['responses', '/v1/responses'],
  ])('talks on the route %s, streams the answer and shows its receipt', async (wire, route) => {
    const { page, complaints, close } = await suite.open(
      `/playground?account=${suite.demo.account}&model=sim-claude&wire=${wire}`,
    );
    await page.getByRole('textbox', { name: 'Message' }).fill('Name three rivers.');
    await page.keyboard.press('Enter');
    const turn = page.getByRole('article');
    await turn.getByRole('button', { name: /^\$0\.\d+/ }).click();
    const charged = await turn
      .getByRole('row', { name: /Charged/ })
      .locator('td')
      .last()
      .textContent();
    const { data } = await suite.demo.manage.get('/receipts?limit=1');
    expect(data[0]).toMatchObject({ route, effective_model: 'sim-claude', ended: 'complete' });
    expect(nanousdIn(charged)).toBe(BigInt(data[0].cost_nanousd));
    expect(await page.locator('[data-cost]').first().getAttribute('data-cost')).toBe(String(data[0].cost_nanousd));
    expect(complaints).toEqual([]);
    await close();
  });

  test('attaches an image once, sends it without a text too, and says if one cannot be read', async () => {
    const { page, complaints, close } = await suite.open(`/playground?account=${suite.demo.account}&model=sim-claude`);
    const image = { name: 'dot.gif', mimeType: 'image/gif', buffer: Buffer.from(DOT_GIF, 'base64') };
    const input = page.getByLabel('Images');
    await input.setInputFiles(image);
    await input.setInputFiles(image);
    await page.getByRole('button', { name: 'Remove the image' }).waitFor();
    expect(await page.getByAltText('To be sent').count()).toBe(1);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: /^\$0\.\d+/ }).waitFor();
    // As if the file was deleted after it was chosen.
    await page.evaluate('FileReader.prototype.readAsDataURL = function () { this.onerror(); }');
    await input.setInputFiles(image);
    await page.getByText('An image cannot be read. Choose it again.').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('asks two models at once, lets the chosen key pay, and shows the request as code', async () => {
    const key = suite.demo.keys.find(({ name }) => name === 'search-index');
    const query = `account=${suite.demo.account}&model=sim-gpt-mini&second=sim-gpt&key=${key!.id}`;
    const { page, complaints, close } = await suite.open(`/playground?${query}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Name three rivers.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page
      .getByRole('button', { name: /^\$0\.\d+/ })
      .nth(1)
      .waitFor();
    const { data } = await suite.demo.manage.get(`/receipts?key=${key!.id}&limit=2`);
    expect(data.map((each: { effective_model: string }) => each.effective_model).toSorted()).toEqual([
      'sim-gpt',
      'sim-gpt-mini',
    ]);
    const total = data.reduce((sum: bigint, each: { cost_nanousd: number }) => sum + BigInt(each.cost_nanousd), 0n);
    const spent = page.locator('[data-cost]').first();
    await expect.poll(() => spent.getAttribute('data-cost')).toBe(String(total));
    await page.getByLabel('Compare with').selectOption('none');
    await expect.poll(() => page.getByRole('article').count()).toBe(1);
    expect(await spent.getAttribute('data-cost')).toBe(String(total));
    await page.getByRole('button', { name: 'Code' }).click();
    expect(await page.getByRole('dialog').locator('pre').textContent()).toContain('Name three rivers.');
    expect(complaints).toEqual([]);
    await close();
  });
});
