import { mkdirSync, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import type { Demo } from './demo-data.ts';
import { startFullDemo } from './demo-people.ts';
import { shrinkPng } from './small-png.ts';
import { VIEWS, type View } from './views.ts';

const FOLDER = new URL('../../docs/console/', import.meta.url);
const BYTES_MAX = 150_000;

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

async function shoot(browser: Browser, demo: Demo, view: View, look: (typeof LOOKS)[number]): Promise<void> {
  const context = await browser.newContext({
    colorScheme: look.colorScheme,
    viewport: look.viewport,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  const url = `${demo.harness.url}/console${view.path(demo)}`;
  await page.goto(`${url}#token=${demo.manage.token}`);
  await page.locator(view.ready).first().waitFor();
  await view.prepare?.(page);
  await page.waitForLoadState('networkidle');
  const file = new URL(`${view.name}-${look.name}.png`, FOLDER);
  const picture = shrinkPng(await page.screenshot());
  writeFileSync(file, picture);
  const size = picture.length;
  process.stdout.write(`${view.name}-${look.name}.png ${Math.ceil(size / 1000)} KB\n`);
  if (size > BYTES_MAX) throw new Error(`${file.pathname} has more than ${BYTES_MAX} bytes.`);
  await context.close();
}

const [only] = process.argv.slice(2);
mkdirSync(FOLDER, { recursive: true });
const demo = await startFullDemo();
const browser = await launchBrowser();
try {
  for (const view of VIEWS.filter(({ name }) => only === undefined || name === only))
    for (const look of LOOKS) await shoot(browser, demo, view, look);
} finally {
  await browser.close();
  await demo.harness.stop();
}
