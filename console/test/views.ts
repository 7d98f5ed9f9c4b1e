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

/** Every page and its main dialogs. A new page gets a line here. */
export const VIEWS: readonly View[] = [
  { name: 'overview', path: ({ account }) => `/?account=${account}`, ready: 'text=Largest spenders' },
  { name: 'keys', path: ({ account }) => `/keys?account=${account}`, ready: 'text=support-bot' },
  {
    name: 'key',
    path: ({ account, keys }) => `/keys?account=${account}&open=${keys[0]!.id}`,
    ready: 'text=Revoke key',
  },
  { name: 'usage', path: ({ account }) => `/usage?account=${account}&by=key`, ready: 'role=table' },
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
  { name: 'mint-key', path: ({ account }) => `/keys?account=${account}&dialog=mint`, ready: 'role=dialog' },
];
