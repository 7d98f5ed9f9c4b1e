import { WIRE_NAMES, type WireName } from '../canonical/wire-names.ts';
import { countPrompt } from '../gateway/count-prompt.ts';
import { exchange } from '../gateway/exchange.ts';
import { type QuotableRoute, type QuotableRoutes, quote } from '../gateway/quote.ts';
import { PREFIXES, readDeploymentPath } from '../http/path-aliases.ts';
import { withoutTrailingSlash } from '../http/router.ts';
import type { Route } from '../http/routes.ts';
import { WIRES } from '../wires/registry.ts';
import type { Wire } from '../wires/wire.ts';

/** Where each wire is served; every wire needs a line. */
const PATHS: Readonly<Record<WireName, string>> = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  completions: '/completions',
  embeddings: '/embeddings',
  systemone: '/systemone',
  decisions: '/decisions',
};

const BILLED = WIRE_NAMES.map((name) => ({ path: PATHS[name], wire: WIRES[name] }));

/** The billed routes, for calls that name one. */
export const ENDPOINTS: ReadonlyMap<string, Wire> = new Map(BILLED.map(({ path, wire }) => [`/v1${path}`, wire]));

/** Every spelling of a billed path, and the route it leads to. */
const BY_PATH: ReadonlyMap<string, QuotableRoute> = new Map(
  PREFIXES.flatMap((prefix) => BILLED.map(({ path, wire }) => [prefix + path, { route: `/v1${path}`, wire }] as const)),
);

export const QUOTABLE: QuotableRoutes = {
  names: BILLED.map(({ path }) => `/v1${path}`),
  find: (requested) => {
    const deployment = readDeploymentPath(requested);
    if (deployment === null) return BY_PATH.get(withoutTrailingSlash(requested)) ?? null;
    return { ...BY_PATH.get(deployment.path)!, pathModel: deployment.model };
  },
};

/** What every worker answers: calls, and questions about a call, such as a quote. */
export function callRoutes(): Route[] {
  const billed = BILLED.map(
    ({ path, wire }): Route => ({
      method: 'POST',
      path,
      access: 'key',
      wire,
      run: exchange,
    }),
  );
  const counting = Object.values(WIRES).flatMap((wire): Route[] =>
    wire.counter === undefined
      ? []
      : [{ method: 'POST', path: wire.counter.path, access: 'key', wire, run: countPrompt }],
  );
  const quoting: Route = {
    method: 'POST',
    path: '/quote',
    access: 'key',
    wire: WIRES.chat,
    run: (gateway, call, sink) => quote(gateway, call, sink, QUOTABLE),
  };
  return [...billed, ...counting, quoting];
}
