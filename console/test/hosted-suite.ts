import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from './browser.ts';
import { CONSOLE_URL, type HostedWorld, type PersonName, publicContext, signInAs, startHosted } from './hosted.ts';

interface HostedSuite {
  readonly world: HostedWorld;
  readonly browser: Browser;
  /** Opens a page below `/console` as a person of that role. */
  openAs(name: PersonName, path: string): Promise<Page>;
}

/** Starts a gateway in hosted mode and a browser before the tests of a file, and ends both after them. */
export function hostedSuite(): HostedSuite {
  let world: HostedWorld;
  let browser: Browser;
  beforeAll(async () => {
    [world, browser] = await Promise.all([startHosted(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await world.stop();
  });
  return {
    get world() {
      return world;
    },
    get browser() {
      return browser;
    },
    openAs: async (name, path) => {
      const context = await publicContext(browser, world.harness);
      await signInAs(context, world, name);
      const page = await context.newPage();
      await page.goto(CONSOLE_URL + path);
      return page;
    },
  };
}
