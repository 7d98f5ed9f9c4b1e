import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { asGatewayError, errorLines } from '../gateway/refuse.ts';
import { headerLine } from '../http1/headers.ts';
import type {
  CreateHttpServer,
  HttpServer,
  HttpServerTerms,
  InboundRequest,
  OutboundResponse,
} from '../http1/server.ts';
import { answerBroken } from './broken-request.ts';
import { checkOrigin } from './check-origin.ts';
import { checkHead } from './request-head.ts';
import { pathOf } from './router.ts';

/** A response of health or metrics, which are not part of the callers' API. */
export interface OperationsResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** By path, for GET. */
export type OperationsResponses = ReadonlyMap<string, () => OperationsResponse | Promise<OperationsResponse>>;

interface OperationsTerms {
  readonly createHttpServer: CreateHttpServer;
  readonly allowedHosts: readonly string[];
  readonly timeouts: HttpServerTerms['timeouts'];
  readonly connections: HttpServerTerms['connections'];
  readonly answers: OperationsResponses;
}

/**
 * The operator's own port for health and metrics. Requests name it by an address or an allowed host name, so that no page
 * in a browser can read it under a name of its own.
 */
export function buildOperations({
  createHttpServer,
  allowedHosts,
  timeouts,
  connections,
  answers,
}: OperationsTerms): HttpServer {
  const guard = { local: true, allowsAddresses: true, allowedHosts, allowedOrigins: [] };
  const answer = (request: InboundRequest, response: OutboundResponse): void => {
    const refused = checkHead(request) ?? checkOrigin(request.method, request.headers, guard);
    const path = pathOf(request.url);
    const found = isGet(request.method) ? answers.get(path) : undefined;
    if (refused !== null) sendPlainError(response, refused);
    else if (found === undefined) sendPlainError(response, unknownUrl(request.method, path));
    else void sendOperations(response, found);
  };
  return createHttpServer({ timeouts, connections, answer, answerBroken });
}

/** The servers leave the body out of their answer to a HEAD. */
export function isGet(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

export async function sendOperations(
  response: OutboundResponse,
  answer: () => OperationsResponse | Promise<OperationsResponse>,
  identity = '',
): Promise<void> {
  try {
    const { status, type, body } = await answer();
    response.head(status, identity + headerLine('content-type', type), Buffer.byteLength(body));
    response.end(body);
  } catch (error) {
    sendPlainError(response, asGatewayError(error));
  }
}

export function sendPlainError(response: OutboundResponse, error: GatewayError, identity = ''): void {
  const body = JSON.stringify(errorEnvelope(error));
  response.head(error.status, identity + errorLines(error), Buffer.byteLength(body));
  response.end(body);
}

function unknownUrl(method: string, path: string): GatewayError {
  return new GatewayError('unknown_url', {
    message: `Unknown URL: ${method} ${path.slice(0, 200)}. Available are /livez, /readyz and /metrics.`,
  });
}
