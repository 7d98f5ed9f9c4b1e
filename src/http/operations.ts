import type { Server, ServerResponse } from 'node:http';
import { errorEnvelope, GatewayError } from '../canonical/errors.ts';
import { asGatewayError, errorHeaders } from '../gateway/refuse.ts';
import { checkOrigin } from './guard.ts';
import { buildListener, type Patience } from './listener.ts';
import { checkHead } from './request-head.ts';
import { pathOf } from './router.ts';

/** What machines ask that watch over this one; these answers are no part of the callers' interface. */
export interface OperationsAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** By path; each is asked by GET and costs nothing. */
export type OperationsAnswers = ReadonlyMap<string, () => OperationsAnswer | Promise<OperationsAnswer>>;

/** The operator's own loopback port, for who calls this machine by one of its names: no page of a browser may read it. */
export function buildOperations(
  allowedHosts: readonly string[],
  patience: Patience,
  answers: OperationsAnswers,
): Server {
  const guard = { local: true, allowedHosts, allowedOrigins: [] };
  return buildListener(patience, (request, response) => {
    const refused = checkHead(request) ?? checkOrigin(request.headers, guard);
    const path = pathOf(request.url ?? '');
    const answer = request.method === 'GET' ? answers.get(path) : undefined;
    if (refused !== null) sendPlainError(response, refused);
    else if (answer === undefined) sendPlainError(response, unknownHere(request.method ?? '', path));
    else void sendOperations(response, answer);
  });
}

export async function sendOperations(
  response: ServerResponse,
  answer: () => OperationsAnswer | Promise<OperationsAnswer>,
  identity: Record<string, string> = {},
): Promise<void> {
  try {
    const { status, type, body } = await answer();
    const headers = { ...identity, 'content-type': type, 'content-length': String(Buffer.byteLength(body)) };
    response.writeHead(status, headers).end(body);
  } catch (error) {
    sendPlainError(response, asGatewayError(error));
  }
}

function sendPlainError(response: ServerResponse, error: GatewayError): void {
  const body = JSON.stringify(errorEnvelope(error));
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  response.writeHead(error.status, { ...errorHeaders(error), ...length }).end(body);
}

function unknownHere(method: string, path: string): GatewayError {
  return new GatewayError('unknown_url', {
    message: `There is no ${method} ${path.slice(0, 200)} here; there are /livez, /readyz and /metrics.`,
  });
}
