import type { PlainRequest, PlainResponse, PlainRoute, Route } from './routes.ts';

type Answer<Services> = (services: Services, request: PlainRequest) => Promise<PlainResponse>;

/** What a route may have besides its method, path and answer. */
type RouteTerms = Partial<Pick<PlainRoute, 'bodyBytesMax' | 'readsBody' | 'isWork'> & Pick<Route, 'permission'>>;

/** Writes routes that need a key, and whose answers are given by functions of these services. */
export function routesOver<Services>(services: Services, common: RouteTerms = {}) {
  return (method: Route['method'], path: string, answer: Answer<Services>, terms: RouteTerms = {}): Route => ({
    ...{ method, path, access: 'key', ...common, ...terms },
    answer: (request) => answer(services, request),
  });
}
