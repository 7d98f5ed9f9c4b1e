import { GatewayError } from '../canonical/errors.ts';
import { PREFIXES, readDeploymentPath } from './path-aliases.ts';
import type { Route } from './routes.ts';

/** The route of a request. */
export interface Found {
  readonly route: Route;
  /** The path of the route with its prefix; logs have it instead of the requested path. */
  readonly pattern: string;
  /** What is in the place of the star, as it was sent, if the route has one. */
  readonly param: string;
  /** The model that the path names, as it was sent; absent on most paths. */
  readonly model?: string;
}

/** Finds the route of a method and a path: most by look-up, those with a star by what is around it. */
export class Router {
  /** By method, then by path: a combined key would have to be built for every request. */
  readonly #exact = new Map<string, Map<string, Found>>();
  readonly #open: Found[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      for (const prefix of PREFIXES) {
        const found: Found = { route, pattern: prefix + route.path, param: '' };
        if (route.path.includes('/*')) this.#open.push(found);
        else this.#ofMethod(route.method).set(found.pattern, found);
      }
    }
  }

  #ofMethod(method: string): Map<string, Found> {
    const ofMethod = this.#exact.get(method) ?? new Map<string, Found>();
    this.#exact.set(method, ofMethod);
    return ofMethod;
  }

  /** A path is also found with a slash behind it, and a HEAD where a GET would be. */
  find(requested: string, path: string): Found | null {
    const method = requested === 'HEAD' ? 'GET' : requested;
    const ofMethod = this.#exact.get(method);
    const plain = withoutTrailingSlash(path);
    const exact = ofMethod?.get(path) ?? ofMethod?.get(plain);
    if (exact !== undefined) return exact;
    const open = this.#findOpen(method, plain) ?? (plain === path ? null : this.#findOpen(method, path));
    return open ?? this.#findDeployment(method, path);
  }

  #findOpen(method: string, path: string): Found | null {
    for (const { route, pattern } of this.#open) {
      const param = route.method === method ? paramOf(pattern, path) : null;
      if (param !== null) return { route, pattern, param };
    }
    return null;
  }

  #findDeployment(method: string, path: string): Found | null {
    const deployment = readDeploymentPath(path);
    const found = deployment === null ? undefined : this.#exact.get(method)?.get(deployment.path);
    if (deployment === null || found === undefined) return null;
    const { pattern, model } = deployment;
    return { ...found, pattern, model };
  }
}

/** What a path has in the place of the pattern's star; null if it does not fit. */
export function paramOf(pattern: string, path: string): string | null {
  const beginning = pattern.indexOf('*');
  const rest = pattern.slice(beginning + 1);
  if (!path.startsWith(pattern.slice(0, beginning)) || !path.endsWith(rest)) return null;
  return path.length < beginning + rest.length ? null : path.slice(beginning, path.length - rest.length);
}

export function unescapedParam(param: string): string {
  try {
    return decodeURIComponent(param);
  } catch {
    throw new GatewayError('bad_request', { message: 'The path has an invalid percent escape.' });
  }
}

export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The path of a target, without its query. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

/** The query of a target, without the question mark. */
export function queryOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? '' : target.slice(end + 1);
}
