import type { Gateway } from '../src/gateway/gateway.ts';
import type { Route } from '../src/http/routes.ts';
import { type RouteServices, routeTable } from '../src/main/routes.ts';

/** Every route for callers, to look at: none of them is run. */
export const EVERY_ROUTE: readonly Route[] = routeTable({
  gateway: {} as Gateway,
  webhooks: {} as RouteServices['webhooks'],
} as RouteServices);
