import { GatewayError } from '../canonical/errors.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import { identityLines } from '../gateway/refuse.ts';
import type {
  CreateHttpServer,
  HttpServer,
  HttpServerTerms,
  InboundRequest,
  OutboundResponse,
} from '../http1/server.ts';
import { formatId } from '../kit/ids.ts';
import { answerBroken } from './broken-request.ts';
import { checkOrigin } from './check-origin.ts';
import { sendPlainError } from './operations.ts';
import { checkHead } from './request-head.ts';
import { pathOf } from './router.ts';
import { type ManagementApi, NO_EXCEPTIONS } from './server.ts';

interface ConsoleTerms {
  readonly createHttpServer: CreateHttpServer;
  readonly manage: ManagementApi;
  readonly ids: { next(): bigint };
  /** Whether this is local mode, where the Host header has to be a name of this machine. */
  readonly local: boolean;
  readonly timeouts: HttpServerTerms['timeouts'];
  readonly connections: HttpServerTerms['connections'];
  /** True once the process is stopping: connections are closed after their response. */
  draining(): boolean;
}

/** A port of its own for the management API and its pages; nothing else is served there. */
export function buildConsole(terms: ConsoleTerms): HttpServer {
  const { createHttpServer, manage, ids, local, timeouts, connections, draining } = terms;
  const guard = { local, ...NO_EXCEPTIONS };
  const answer = (request: InboundRequest, response: OutboundResponse): void => {
    const requestId = formatId(REQUEST_PREFIX, ids.next());
    const { method, url, headers } = request;
    const unclear = checkHead(request);
    if (draining() || unclear !== null) response.closes = true;
    const refused =
      unclear ?? checkOrigin(method, headers, guard) ?? (manage.serves(url) ? null : unknownUrl(method, url));
    if (refused === null) {
      void manage.answer(request, response, requestId);
      return;
    }
    // The rest of the body is not read.
    if (!request.complete) response.closes = true;
    sendPlainError(response, refused, identityLines(requestId, null, null));
  };
  return createHttpServer({ timeouts, connections, answer, answerBroken });
}

function unknownUrl(method: string, url: string): GatewayError {
  return new GatewayError('unknown_url', {
    message: `Unknown URL: ${method} ${pathOf(url).slice(0, 200)}. This port serves only the management API; see /docs.`,
  });
}
