import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { App } from './app.tsx';
import { NotFoundPage } from './pages/not-found-page.tsx';
import { ErrorPanel } from './parts/error-panel.tsx';
import { PAGES } from './shell/pages.ts';
import { parseSearch, type Search, stringifySearch } from './shell/search.ts';

const root = createRootRoute({
  component: App,
  validateSearch: (search): Search => search as Search,
  notFoundComponent: NotFoundPage,
  errorComponent: ({ error }) => <ErrorPanel error={inPlainWords(error)} again={() => location.reload()} />,
});

/** How browsers say that a file of the console is not there. */
const NO_FILE = /dynamically imported module|Importing a module script failed/i;

function inPlainWords(error: unknown): Error {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (!NO_FILE.test(message)) return new Error(message);
  return new Error('A part of the console could not be loaded. If the gateway was upgraded, load the page again.');
}

const routes = PAGES.map(({ path, load }) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) }),
);
// Where the link of an invitation leads. `App` shows it without the shell.
const join = createRoute({ getParentRoute: () => root, path: '/join' });

export const router = createRouter({
  routeTree: root.addChildren([...routes, join]),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
});
