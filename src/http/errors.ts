import { GatewayError } from '../canonical/errors.ts';
import { PREFIXES, readDeploymentPath } from './path-aliases.ts';
import { paramOf, withoutTrailingSlash } from './router.ts';
import { type Route, refusedRoute } from './routes.ts';

/** The error for a path or method without a route: why, and what to use instead. */
export function errorOfUnknownRoute(
  { method, url }: { readonly method: string; readonly url: string },
  routes: readonly Route[],
): GatewayError {
  const path = url.split('?', 1)[0]!;
  const refused = refusedRoute(path);
  if (refused !== null) {
    return new GatewayError('unsupported_route', {
      message: `${path.slice(0, 200)} is not offered. ${refused.instead}`,
    });
  }
  if (path.startsWith('/v1/v1/')) {
    return new GatewayError('unknown_url', {
      message:
        'This path has /v1 twice: the client adds it to a base URL that ends in it. Take it out of the base URL.',
    });
  }
  const methods = methodsAt({ url }, routes);
  if (methods.length > 0) {
    return new GatewayError('method_not_allowed', {
      message: `${method} is not allowed here; send ${methods.join(' or ')}.`,
    });
  }
  return new GatewayError('unknown_url', { message: `Unknown URL: ${method} ${path.slice(0, 200)}. ${nearest(path)}` });
}

/** Whoever opens the address of the gateway in a browser looks for the console. */
function nearest(path: string): string {
  const calls = 'See /v1/models, /v1/chat/completions.';
  return path === '/' ? `${calls} The console is at /console, unless it is off or has a port of its own.` : calls;
}

/** The methods at this path. Of several routes that fit, the exact or the longest one is meant. */
export function methodsAt({ url = '' }: { readonly url?: string | undefined }, routes: readonly Route[]): string[] {
  const requested = url.split('?', 1)[0]!;
  const path = readDeploymentPath(requested)?.path ?? requested;
  const found = routes.filter((route) => reaches(route, path));
  const closest = Math.max(...found.map(closeness));
  return found.filter((route) => closeness(route) === closest).map((route) => route.method);
}

/** The same for the `allow` header. A HEAD is answered like a GET. */
export function allowedAt(request: { readonly url?: string | undefined }, routes: readonly Route[]): string[] {
  return methodsAt(request, routes).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function closeness({ path }: Route): number {
  return path.includes('*') ? path.length : Number.POSITIVE_INFINITY;
}

function reaches(route: Route, path: string): boolean {
  return PREFIXES.some((prefix) => {
    const full = prefix + route.path;
    return full.includes('/*') ? paramOf(full, path) !== null : withoutTrailingSlash(path) === full;
  });
}
