import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from './browser.ts';
import type { Demo } from './demo-data.ts';
import { type Visit, visit } from './visit.ts';

interface DemoSuite {
  readonly demo: Demo;
  readonly browser: Browser;
  /** Opens a page below `/console` as the operator of local mode. */
  open(path: string, options?: BrowserContextOptions): Promise<Visit>;
}

/** Starts a demo and a browser before the tests of a file, and ends both after them. */
export function demoSuite(start: () => Promise<Demo>): DemoSuite {
  let demo: Demo;
  let browser: Browser;
  beforeAll(async () => {
    [demo, browser] = await Promise.all([start(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await demo.harness.stop();
  });
  return {
    get demo() {
      return demo;
    },
    get browser() {
      return browser;
    },
    open: (path, options = {}) =>
      visit(browser, `${demo.harness.url}/console${path}`, { token: demo.manage.token, options }),
  };
}
