import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from './axe.ts';
import { launchBrowser } from './browser.ts';
import type { Demo } from './demo-data.ts';
import { startFullDemo } from './demo-people.ts';
import { VIEWS } from './views.ts';
import { visit } from './visit.ts';

let demo: Demo;
let browser: Browser;

beforeAll(async () => {
  [demo, browser] = await Promise.all([startFullDemo(), launchBrowser()]);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await demo.harness.stop();
});

const LOOKS = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { look: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

describe.each(VIEWS)('the view $name', (view) => {
  test.each(LOOKS)('is accessible and does nothing that a page must not do, $look', async ({ look: _, ...options }) => {
    const { page, complaints, close } = await visit(browser, `${demo.harness.url}/console${view.path(demo)}`, {
      token: demo.manage.token,
      options,
    });
    await page.locator(view.ready).first().waitFor();
    await view.prepare?.(page);
    await page.waitForLoadState('networkidle');
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow, 'the page does not scroll sideways').toBeLessThanOrEqual(0);
    await close();
  });
});
