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
  { name: 'mint-key', path: ({ account }) => `/keys?account=${account}&dialog=mint`, ready: 'role=dialog' },
];
