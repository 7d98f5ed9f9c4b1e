import type { IncomingHttpHeaders } from 'node:http';
import type { Call } from '../gateway/call.ts';
import { PREFIXES, type Route } from './routes.ts';

/** The wire whose clients ask at a route, for the shape of its errors; null where any client may. */
export function wireOf(route: Route, headers: IncomingHttpHeaders): Call['wire'] | null {
  return 'wire' in route ? route.wire : (route.wireOf?.(headers) ?? null);
}

interface Asked {
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The same for a path that nothing answers, or not by this method: that of the route it is, or lies beneath. */
export function wireAt({ url = '', headers }: Asked, routes: readonly Route[]): Call['wire'] | null {
  const path = url.split('?', 1)[0]!;
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
