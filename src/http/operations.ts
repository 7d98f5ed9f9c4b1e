import Fastify, { type FastifyInstance } from 'fastify';
import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { asGatewayError, errorHeaders } from '../gateway/refuse.ts';
import { LIMITS } from '../limits.ts';
import { errorOfServer } from './errors.ts';
import { checkOrigin } from './guard.ts';
import { checkHead } from './request-head.ts';

/** The operator's own loopback port, for who calls this machine by one of its names: no page of a browser may read it. */
export function buildOperations(
  allowedHosts: readonly string[],
  { requestMs }: { readonly requestMs: number },
): FastifyInstance {
  const server = Fastify({
    requestTimeout: requestMs,
    http: { maxHeaderSize: LIMITS.requestHeaderBytesMax, requireHostHeader: false },
  } as Parameters<typeof Fastify>[0]) as unknown as FastifyInstance;
  const guard = { local: true, allowedHosts, allowedOrigins: [] };
  server.addHook('onRequest', (request, _reply, done) => {
    done(checkHead(request.raw) ?? checkOrigin(request.headers, guard) ?? undefined);
  });
  server.setNotFoundHandler(({ method, url }) => {
    throw new GatewayError('unknown_url', {
      message: `There is no ${method} ${url.slice(0, 200)} here; there are /livez, /readyz and /metrics.`,
    });
  });
  server.setErrorHandler((error: Error & { code?: string; statusCode?: number }, _request, reply) => {
    const known =
      error instanceof GatewayError
        ? error
        : (errorOfServer(error, LIMITS.requestBodyBytesMax) ?? asGatewayError(error));
    return reply.code(known.status).headers(errorHeaders(known)).send(errorEnvelope(known));
  });
  return server;
}
