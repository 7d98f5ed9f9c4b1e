import type { IncomingHttpHeaders } from 'node:http';
import type { Call } from '../gateway/call.ts';
import { PREFIXES, readDeploymentPath } from './path-aliases.ts';
import type { Route } from './routes.ts';

/** The wire that decides the shape of a route's errors; null if the route belongs to no wire. */
export function wireOf(route: Route, headers: IncomingHttpHeaders): Call['wire'] | null {
  return 'wire' in route ? route.wire : (route.wireOf?.(headers) ?? null);
}

interface RequestedPath {
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The same for a path or method without a route: the wire of the route at this path or above it. */
export function wireAt({ url = '', headers }: RequestedPath, routes: readonly Route[]): Call['wire'] | null {
  const requested = url.split('?', 1)[0]!;
  // A client that adds its own /v1 to a base URL that ends in it must be able to read the error that tells it so.
  const path = readDeploymentPath(requested)?.path ?? requested.replace(/^\/v1(?=\/v1\/)/, '');
  for (const prefix of PREFIXES) {
    if (!path.startsWith(`${prefix}/`)) continue;
    const route = routes.find((each) => isAtOrBeneath(path.slice(prefix.length), each.path.replace(/\/\*$/, '')));
    if (route !== undefined) return wireOf(route, headers);
  }
  return null;
}

function isAtOrBeneath(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}
