import type { Page } from 'playwright-core';
import type { Demo } from './demo-data.ts';

/** A page as somebody sees it: for screenshots and for the checks that hold on every page. */
export interface View {
  readonly name: string;
  /** Below `/console`. */
  path(demo: Demo): string;
  /** What is on the page once it has loaded. */
  readonly ready: string;
  /** Opens what has no address of its own. */
  prepare?(page: Page): Promise<void>;
}

/** Opens what the view shows, and waits until the page has drawn all of it. */
export async function showView(page: Page, { ready, prepare }: Pick<View, 'ready' | 'prepare'>): Promise<void> {
  await page.locator(ready).first().waitFor();
  await prepare?.(page);
  await page.locator('[data-skeleton], [aria-busy="true"]').first().waitFor({ state: 'detached' });
  // Names of keys and people may replace their ids, without a sign on the page that they are being read.
  await page.waitForLoadState('networkidle');
}

/** Every page and its main dialogs. A new page gets a line here. */
export const VIEWS: readonly View[] = [
  { name: 'overview', path: ({ account }) => `/?account=${account}`, ready: 'role=img[name=/^Spend by/]' },
  { name: 'keys', path: ({ account }) => `/keys?account=${account}`, ready: 'text=support-bot' },
  {
    name: 'key',
    path: ({ account, keys }) => `/keys?account=${account}&open=${keys[0]!.id}`,
    ready: 'text=Revoke key',
  },
  { name: 'usage', path: ({ account }) => `/usage?account=${account}&by=key`, ready: 'role=img' },
  { name: 'requests', path: ({ account }) => `/requests?account=${account}`, ready: 'role=row >> nth=10' },
  {
    name: 'receipt',
    path: ({ account }) => `/requests?account=${account}`,
    ready: 'role=row >> nth=20',
    prepare: async (page) => {
      await page
        .getByRole('row', { name: /200 sim-claude/ })
        .first()
        .click();
      await page.getByRole('table', { name: 'What the call cost' }).waitFor();
    },
  },
  {
    name: 'refusal',
    path: ({ account }) => `/requests?account=${account}&show=refused`,
    ready: 'role=row >> nth=5',
    prepare: async (page) => {
      await page.getByRole('row', { name: /402/ }).first().click();
      await page.getByText('refused, nothing was charged').waitFor();
    },
  },
  { name: 'models', path: ({ account }) => `/models?account=${account}`, ready: 'text=sim-claude' },
  {
    name: 'model',
    path: ({ account }) => `/models?account=${account}&open=sim-claude&in=12,000&out=800`,
    ready: 'text=What a call costs',
  },
  {
    name: 'playground',
    path: ({ account }) => `/playground?account=${account}&model=sim-claude`,
    ready: 'role=textbox[name="Message"]',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Message' }).fill('Which invoices are still open?');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /^\$0\.0/ }).click();
    },
  },
  {
    name: 'playground-two',
    path: ({ account }) => `/playground?account=${account}&model=sim-claude&second=sim-gpt-mini`,
    ready: 'role=textbox[name="Message"]',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Message' }).fill('Which invoices are still open?');
      await page.keyboard.press('Enter');
      await page
        .getByRole('button', { name: /^\$0\.0/ })
        .nth(1)
        .waitFor();
    },
  },
  { name: 'jobs', path: ({ account }) => `/jobs?account=${account}`, ready: 'role=cell >> text=ticket-1' },
  { name: 'balance', path: ({ account }) => `/balance?account=${account}`, ready: 'text=invoice-1001' },
  { name: 'members', path: ({ account }) => `/members?account=${account}`, ready: 'text=bo@example.org' },
  {
    name: 'provider-keys',
    path: ({ account }) => `/provider-keys?account=${account}`,
    ready: 'text=k7Qd',
  },
  {
    name: 'management-keys',
    path: ({ account }) => `/management-keys?account=${account}`,
    ready: 'text=billing-export',
  },
  { name: 'webhooks', path: ({ account }) => `/webhooks?account=${account}`, ready: 'text=pager' },
  { name: 'alerts', path: ({ account }) => `/alerts?account=${account}&status=all`, ready: 'role=table' },
  { name: 'audit', path: ({ account }) => `/audit?account=${account}`, ready: 'role=cell >> text=Minted a key' },
  { name: 'accounts', path: () => '/accounts', ready: 'role=table >> text=acme' },
  { name: 'people', path: () => '/people', ready: 'text=Anna Berg' },
  { name: 'hosts', path: () => '/hosts', ready: 'role=table' },
  { name: 'host', path: () => '/hosts?open=sim', ready: 'text=Latest problems' },
  { name: 'system', path: () => '/system', ready: 'text=Settings in force' },
  { name: 'mint-key', path: ({ account }) => `/keys?account=${account}&dialog=mint`, ready: 'role=dialog' },
];
