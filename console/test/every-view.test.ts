import { describe, expect, test } from 'vitest';
import { seriousFindings } from './axe.ts';
import { startFullDemo } from './demo-people.ts';
import { demoSuite } from './demo-suite.ts';
import { showView, VIEWS } from './views.ts';

const suite = demoSuite(startFullDemo);

const LOOKS = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { look: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

/** Panels hide what is wider than they are. */
const CLIPPED = `[...document.querySelectorAll('section')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
  .map(({ textContent }) => textContent.slice(0, 80))`;

describe.each(VIEWS)('the view $name', (view) => {
  test.each(LOOKS)('is accessible and does nothing that a page must not do, $look', async ({ look: _, ...options }) => {
    const { page, complaints, close } = await suite.open(view.path(suite.demo), options);
    await showView(page, view);
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow, 'the page does not scroll sideways').toBeLessThanOrEqual(0);
    expect(await page.evaluate(CLIPPED), 'panels show the whole of their tables').toEqual([]);
    await close();
  });
});
