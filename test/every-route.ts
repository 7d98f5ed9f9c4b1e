import type { Gateway } from '../src/gateway/gateway.ts';
import type { Route } from '../src/http/routes.ts';
import type { Jobs } from '../src/jobs/service.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import { routeTable } from '../src/main/routes.ts';

/** Every route for callers, to look at: none of them is run. */
export const EVERY_ROUTE: readonly Route[] = routeTable(
  {} as Gateway,
  {} as Ledger,
  {} as Parameters<typeof routeTable>[2],
  {} as Parameters<typeof routeTable>[3],
  {} as Jobs,
);
