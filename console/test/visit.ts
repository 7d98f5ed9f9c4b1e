import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

export interface Visit {
  readonly page: Page;
  /** What went wrong during the visit: messages on the console, errors, violations of the policy, requests elsewhere. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Opens the console of a gateway and listens for everything that a page must not do. */
export async function visit(
  browser: Browser,
  url: string,
  { token, options = {} }: { readonly token: string | null; readonly options?: BrowserContextOptions },
): Promise<Visit> {
  const context = await browser.newContext({ reducedMotion: 'reduce', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const target = new URL(request.url());
    if (target.origin !== origin && !['blob:', 'data:'].includes(target.protocol))
      complaints.push(`request to ${target}`);
  });
  await page.goto(token === null ? url : `${url}#token=${token}`);
  return { page, complaints, close: () => context.close() };
}
