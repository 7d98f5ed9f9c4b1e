import type { IncomingHttpHeaders } from 'node:http';

const METHODS = 'GET, POST, PUT, DELETE, OPTIONS';
const EXPOSED = [
  'x-gateway-request-id',
  'x-gateway-requested-model',
  'x-gateway-effective-model',
  'x-gateway-cost-nanousd',
  'x-gateway-cost-components-nanousd',
  'x-gateway-adjusted',
  'x-gateway-hangups',
  'idempotency-replayed',
  'request-id',
  'x-request-id',
  'retry-after',
  'x-should-retry',
].join(', ');

/** CORS headers for an origin that the operator has listed, none for any other. */
export function corsHeaders(headers: IncomingHttpHeaders, origins: readonly string[]): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined || !origins.includes(origin)) return {};
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'origin' };
}

/** The response headers of a preflight request; null unless the origin is listed. */
export function preflightHeaders(
  headers: IncomingHttpHeaders,
  origins: readonly string[],
): Record<string, string> | null {
  const allowed = corsHeaders(headers, origins);
  if (Object.keys(allowed).length === 0) return null;
  const asked = headers['access-control-request-headers'];
  return {
    ...allowed,
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': typeof asked === 'string' ? asked : 'authorization, content-type',
    'access-control-max-age': '600',
  };
}
